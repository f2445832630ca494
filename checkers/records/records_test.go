package records_test

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/records"
)

// A record that goes back to what it was is found, and what moves on is not.
func TestWritten(t *testing.T) {
	text := func(s string) records.Value { return records.Value{Bytes: s} }
	number := func(n int64) records.Value { return records.Value{Bytes: string(rune('a' + n)), Number: n} }
	unset := records.Value{}
	for name, c := range map[string]struct {
		ns, field string
		was, is   records.Value
		renames   bool
		want      int
	}{
		"a decision is made":     {"config.migrationCoordinators", "decision", unset, text("c"), false, 0},
		"a decision is changed":  {"config.migrationCoordinators", "decision", text("c"), text("a"), false, 1},
		"a decision is lost":     {"config.migrationCoordinators", "decision", text("c"), unset, false, 1},
		"a time rises":           {"config.vectorClock", "configTime", number(3), number(4), false, 0},
		"a time falls":           {"config.vectorClock", "configTime", number(4), number(3), false, 1},
		"a task is due":          {"config.rangeDeletions", "pending", number(1), unset, false, 0},
		"a task is not due":      {"config.rangeDeletions", "pending", unset, number(1), false, 1},
		"a flag is kept":         {"config.rangeDeletions", "processing", number(1), number(1), false, 0},
		"a flag is taken back":   {"config.rangeDeletions", "processing", number(1), unset, false, 1},
		"a task is renamed":      {"config.rangeDeletions", "nss", text("a"), text("b"), true, 0},
		"a task goes elsewhere":  {"config.rangeDeletions", "nss", text("a"), text("b"), false, 1},
		"the range of a task":    {"config.rangeDeletions", "max", text("a"), text("b"), true, 1},
		"a session goes on":      {"config.transactions", "txn", number(1), number(2), false, 0},
		"a session falls behind": {"config.transactions", "txn", number(2), number(1), false, 1},
	} {
		at := slices.Index(records.Fields(c.ns), c.field)
		if at < 0 {
			t.Fatalf("%s: %s has no field %s", name, c.ns, c.field)
		}
		write := func(j *records.Judge, index uint64, v records.Value) {
			r := &records.Record{Set: "shard-a", NS: c.ns, ID: "x", Index: index, Renames: c.renames,
				Values: make([]records.Value, len(records.Fields(c.ns)))}
			r.Values[at] = v
			j.Written(r)
		}
		j := records.New()
		write(j, 1, c.was)
		write(j, 2, c.is)
		if v := j.Verdict(); len(v.Violations) != c.want {
			t.Errorf("%s: %v", name, v.Violations)
		}
		j = records.New()
		write(j, 1, c.was)
		j.Removed("shard-a", c.ns, "x")
		write(j, 2, c.is)
		if v := j.Verdict(); len(v.Violations) != 0 {
			t.Errorf("%s, of another record: %v", name, v.Violations)
		}
	}
}
