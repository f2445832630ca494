package shardstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/key"
)

// Excuse turns failures that the version of the protocol is documented to show into documented
// ones, and names what the run has shown.
func (c *cluster) Excuse(verdicts []checkers.Verdict) (anomalies []string) {
	older := !protocolOf(c.scenario).CoordinatesMigrations()
	var excuses []verdict.Excuse
	if older {
		excuses = append(excuses, verdict.Excuse{Anomaly: verdict.UnfencedCommit,
			Explains: c.unfenced})
	}
	excuses = append(excuses, verdict.Excuse{Anomaly: verdict.ExecutedTwice,
		Explains: c.executedTwice})
	anomalies = verdict.Apply(excuses, verdicts)
	if older && c.leaked {
		anomalies = append(anomalies, verdict.LeakedOrphans.Name)
	}
	return anomalies
}

func (c *cluster) unfenced(v *checkers.Violation) bool {
	return slices.ContainsFunc(c.oracle.Unfenced(), func(r verdict.KeyRange) bool {
		return r.Holds(v, c.places(v))
	})
}

// executedTwice explains a violation about the key of a statement that was executed twice, if a
// write of the same client is among its operations.
func (c *cluster) executedTwice(v *checkers.Violation) bool {
	return slices.ContainsFunc(c.oracle.ExecutedTwice(), func(x oracle.Twice) bool {
		return v.NS == x.NS && slices.Contains(c.places(v), x.Key) &&
			slices.ContainsFunc(c.scenario.Ops, func(op scenario.Op) bool {
				session := fmt.Sprintf("client.%d/", op.Client)
				return op.Kind.Writes() && slices.Contains(v.Ops, op.ID) &&
					strings.HasPrefix(x.Session, session)
			})
	})
}

// places are the encoded shard keys that a violation's key may stand for: of a hashed collection,
// history checkers name the value and oracles the hash.
func (c *cluster) places(v *checkers.Violation) []string {
	k, err := strconv.ParseInt(v.Key, 10, 64)
	if err != nil {
		return nil
	}
	places := []string{string(key.Int(k))}
	for _, coll := range c.scenario.Collections {
		at, err := founded(coll).Key.Of(documentOf(docName{k, coll.Place(k)}, ""))
		if coll.NS == v.NS && err == nil {
			places = append(places, string(at))
		}
	}
	return places
}
