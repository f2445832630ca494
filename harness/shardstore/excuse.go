package shardstore

import (
	"strconv"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/system/key"
)

// Excuse turns failures that 4.2 is documented to show into documented ones, and names what the run
// has shown.
func (c *cluster) Excuse(verdicts []checkers.Verdict) (anomalies []string) {
	if protocolOf(c.scenario).CoordinatesMigrations() {
		return nil
	}
	verdict.Excuse(verdicts, c.oracle.Unfenced(), c.places)
	if checkers.Worst(verdicts).Outcome == checkers.Documented {
		anomalies = append(anomalies, verdict.UnfencedCommit.Name)
	}
	if c.leaked {
		anomalies = append(anomalies, verdict.LeakedOrphans.Name)
	}
	return anomalies
}

// places are the encoded shard keys that a violation's key may stand for: of a hashed collection,
// checkers of histories name the value and oracles the hash.
func (c *cluster) places(v *checkers.Violation) []string {
	k, err := strconv.ParseInt(v.Key, 10, 64)
	if err != nil {
		return nil
	}
	places := []string{string(key.Int(k))}
	for _, coll := range c.scenario.Collections {
		if at, err := founded(coll).Key.Of(documentOf(k, "")); coll.NS == v.NS && err == nil {
			places = append(places, string(at))
		}
	}
	return places
}
