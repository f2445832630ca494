package records_test

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/records"
)

// A record that goes back to what it was is found, and what moves on is not.
func TestWritten(t *testing.T) {
	text := func(s string) records.Value { return records.Value{Bytes: s} }
	number := func(n int64) records.Value {
		return records.Value{Bytes: string(rune('a' + n)), Number: n}
	}
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
			r := &records.Record{Name: records.Name{Set: "shard-a", NS: c.ns, ID: "x"}, Index: index,
				Renames: c.renames, Values: make([]records.Value, len(records.Fields(c.ns)))}
			r.Values[at] = v
			j.Written(r)
		}
		j := records.New()
		write(j, 1, c.was)
		write(j, 2, c.is)
		if v := j.Verdicts()[0]; len(v.Violations) != c.want {
			t.Errorf("%s: %v", name, v.Violations)
		}
		j = records.New()
		write(j, 1, c.was)
		j.Removed(records.Name{Set: "shard-a", NS: c.ns, ID: "x"})
		write(j, 2, c.is)
		if v := j.Verdicts()[0]; len(v.Violations) != 0 {
			t.Errorf("%s, of another record: %v", name, v.Violations)
		}
	}
}

// What is open has a record by which it is ended, at the end of each entry.
func TestEntered(t *testing.T) {
	const (
		sections   = "config.collection_critical_sections"
		recipients = "config.migrationRecipients"
		shares     = "config.ddlParticipations"
		operations = "config.system.sharding_ddl_coordinators"
	)
	write := func(set, ns, id string, open records.Open, field string, n int64) func(*records.Judge) {
		return func(j *records.Judge) {
			r := &records.Record{Name: records.Name{Set: set, NS: ns, ID: id}, Open: open,
				Values: make([]records.Value, len(records.Fields(ns)))}
			if at := slices.Index(records.Fields(ns), field); at >= 0 {
				r.Values[at].Number = n
			}
			j.Written(r)
		}
	}
	remove := func(set, ns, id string) func(*records.Judge) {
		return func(j *records.Judge) { j.Removed(records.Name{Set: set, NS: ns, ID: id}) }
	}
	entry := func(j *records.Judge) { j.Entered("shard-a", 1, 7) }
	ofMove := records.Open{Owners: []records.Name{{Set: "shard-a", NS: recipients, ID: "m"}}}
	section := write("shard-a", sections, "test.docs", ofMove, "", 0)
	record := write("shard-a", recipients, "m", records.Open{}, "", 0)
	of5 := write("shard-a", sections, "test.docs", records.Open{
		Operation: 5, Released: records.Name{Set: "shard-a", NS: shares, ID: "test.docs"},
	}, "", 0)
	operation := func(n int64) func(*records.Judge) {
		return write("config", operations, "test.docs", records.Open{}, "number", n)
	}
	released := func(n int64) func(*records.Judge) {
		return write("shard-a", shares, "test.docs", records.Open{}, "released", n)
	}
	for name, c := range map[string]struct {
		steps []func(*records.Judge)
		want  int
	}{
		"both in one entry":           {[]func(*records.Judge){section, record, entry}, 0},
		"first the section":           {[]func(*records.Judge){section, entry, record, entry}, 1},
		"reported once":               {[]func(*records.Judge){section, entry, entry}, 1},
		"of another set":              {[]func(*records.Judge){write("shard-b", recipients, "m", records.Open{}, "", 0), section, entry}, 1},
		"first the record is removed": {[]func(*records.Judge){record, section, entry, remove("shard-a", recipients, "m"), entry}, 1},
		"first the section is removed": {[]func(*records.Judge){record, section, entry,
			remove("shard-a", sections, "test.docs"), remove("shard-a", recipients, "m"), entry}, 0},
		"an operation":             {[]func(*records.Judge){operation(5), of5, entry}, 0},
		"another operation":        {[]func(*records.Judge){operation(4), of5, entry}, 1},
		"an operation before":      {[]func(*records.Judge){operation(5), released(4), of5, entry}, 0},
		"after it was released":    {[]func(*records.Judge){operation(5), released(5), of5, entry}, 1},
		"released in one entry":    {[]func(*records.Judge){operation(5), of5, entry, released(5), remove("shard-a", sections, "test.docs"), entry}, 0},
		"no operation on record":   {[]func(*records.Judge){of5, entry}, 1},
		"the operation is removed": {[]func(*records.Judge){operation(5), of5, entry, remove("config", operations, "test.docs"), entry}, 1},
	} {
		j := records.New()
		for _, step := range c.steps {
			step(j)
		}
		if v := j.Verdicts()[1]; len(v.Violations) != c.want {
			t.Errorf("%s: %v, want %d violations", name, v.Violations, c.want)
		}
	}
}

// Commits in progress are counted one by one; a new primary begins with none.
func TestCounted(t *testing.T) {
	type count struct {
		term uint64
		n    int64
	}
	for name, c := range map[string]struct {
		counts []count
		want   int
	}{
		"one by one":        {[]count{{1, 1}, {1, 2}, {1, 1}, {1, 0}}, 0},
		"reset":             {[]count{{1, 1}, {1, 2}, {2, 0}, {2, 1}}, 0},
		"nothing to reset":  {[]count{{1, 1}, {1, 0}, {2, 1}}, 0},
		"not reset":         {[]count{{1, 1}, {2, 2}}, 1},
		"taken out unreset": {[]count{{1, 1}, {1, 2}, {2, 1}}, 1},
		"reset twice":       {[]count{{1, 1}, {2, 0}, {2, 1}, {2, 2}, {2, 0}}, 1},
		"two at once":       {[]count{{1, 2}}, 1},
		"less than none":    {[]count{{1, 1}, {1, 0}, {1, -1}}, 1},
		"the time alone":    {[]count{{1, 1}, {1, 1}}, 0},
	} {
		j := records.New()
		for i, at := range c.counts {
			j.Counted("shard-a", uint64(i+1), 7, at.term, at.n)
		}
		if v := j.Verdicts()[0]; len(v.Violations) != c.want {
			t.Errorf("%s: %v, want %d violations", name, v.Violations, c.want)
		}
	}
}

// The entry that removes an operation's record remembers its request.
func TestRemembered(t *testing.T) {
	request := records.Name{Set: "config", NS: "config.ddlRequests", ID: "s"}
	operation := records.Record{
		Name:   records.Name{Set: "config", NS: "config.system.sharding_ddl_coordinators", ID: "o"},
		Values: make([]records.Value, len(records.Fields("config.system.sharding_ddl_coordinators"))),
		Open:   records.Open{Request: request, Txn: 5},
	}
	for name, c := range map[string]struct {
		txn  int64
		late bool
		want int
	}{
		"together":         {5, false, 0},
		"of a newer one":   {6, false, 0},
		"of an older one":  {4, false, 1},
		"in another entry": {5, true, 1},
	} {
		j := records.New()
		remember := func() {
			j.Written(&records.Record{Name: request, Values: []records.Value{{Number: c.txn}}})
		}
		at := operation
		j.Written(&at)
		j.Entered("config", 1, 7)
		j.Removed(at.Name)
		if c.late {
			j.Entered("config", 2, 8)
		}
		remember()
		j.Entered("config", 3, 9)
		if v := j.Verdicts()[1]; len(v.Violations) != c.want {
			t.Errorf("%s: %v, want %d violations", name, v.Violations, c.want)
		}
	}
}
