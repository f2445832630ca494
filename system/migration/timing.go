package migration

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// stepTiming records how long each step of one side took, for the changelog (protocol 5.1, 5.2).
type stepTiming struct {
	steps int // of the protocol
	laps  []time.Duration
	last  env.Time
}

func newTiming(steps int, now env.Time) stepTiming { return stepTiming{steps: steps, last: now} }

// lap ends a step.
func (m *stepTiming) lap(now env.Time) {
	m.laps = append(m.laps, now.Sub(m.last))
	m.last = now
}

// outcome are the fields of an entry in the changelog by which it can be told what became of the
// migration: how many milliseconds each step took, and a note, which shells look for.
func (m *stepTiming) outcome(err error) (fields bson.D) {
	for i, d := range m.laps {
		fields = append(fields, bson.E{
			Key: fmt.Sprintf("step %d of %d", i+1, m.steps), Value: d.Milliseconds(),
		})
	}
	if err == nil {
		return append(fields, bson.E{Key: "note", Value: "success"})
	}
	return append(fields, bson.E{Key: "note", Value: "aborted"},
		bson.E{Key: "errmsg", Value: err.Error()})
}

// changeDetails are the details of an entry in the changelog about a migration. A donor that gives
// up before it knows the collection cannot say what its bounds are.
type changeDetails struct {
	migration, from, to string
	pattern             key.Pattern
	moves               key.Range
}

// with are the details and more.
func (c changeDetails) with(more ...bson.E) bson.D {
	doc := bson.D{{Key: "migration", Value: c.migration}}
	if !c.pattern.IsZero() {
		doc = append(doc, bson.E{Key: "min", Value: c.bound(c.moves.Min)},
			bson.E{Key: "max", Value: c.bound(c.moves.Max)})
	}
	doc = append(doc, bson.E{Key: "from", Value: c.from}, bson.E{Key: "to", Value: c.to})
	return append(doc, more...)
}

// bound is null for a bound that the donor has not chosen yet.
func (c changeDetails) bound(k key.Key) any {
	if k == "" {
		return nil
	}
	v, err := key.Decode(k)
	if err != nil {
		return nil
	}
	return bson.D{{Key: c.pattern.Field, Value: v}}
}

func (d *donorMigration) details(more ...bson.E) bson.D {
	r := &d.record
	c := changeDetails{migration: r.Migration, from: r.Donor, to: r.Recipient, moves: r.Range()}
	if d.capture != nil {
		c.pattern = d.capture.pattern
	}
	return c.with(more...)
}

func (r *recipientMigration) details(more ...bson.E) bson.D {
	s := &r.start
	c := changeDetails{s.Migration, s.From, s.To, r.pattern, key.Range{Min: s.Min, Max: s.Max}}
	return c.with(more...)
}

// logLater adds to the changelog behind the migration's back: nothing waits for it, and when it
// gets lost nothing is wrong.
func (s *Service) logLater(what, ns string, details bson.D) {
	if s.member.TermScope().Err() != nil {
		return
	}
	s.node.Spawn(s.member.TermScope(), "changelog "+what, func(t env.Task) {
		_ = s.logChange(t, what, ns, details)
	})
}
