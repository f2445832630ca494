package endstate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// a client waits for a router, this for a shard, where a handler is parked; what works there in the
// background is for a migration, whose donor tries again and again.
func stuck() []Wait {
	return []Wait{
		{Node: "config.0", Task: "balancer", Doing: "is parked", On: -1},
		{Node: "b.0", Task: "journal", Doing: "is parked", On: -1, Idle: true},
		{Node: "b.0", Task: "hold a/1/1", Doing: "is parked", Since: time.Second, On: -1,
			About: "a/1/1"},
		{Node: "b.0", Task: "Update", Doing: "is parked after request.wait", Since: 3 * time.Second,
			Serves: true, On: -1, About: "test.docs"},
		{Node: "a.0", Task: "recovery", Doing: "is sleeping", Since: 9 * time.Second, On: -1,
			About: "a/1/1", Told: "config.0 (Ensure) answered at 8s: Refused: no"},
		{Node: "router.0", Task: "Update", Doing: "waits for b.0 (Update)", Since: 2 * time.Second,
			Serves: true, On: 3},
		{Node: "client.0", Task: "boot", Doing: "waits for router.0 (Update)", Since: time.Second,
			On: 5},
	}
}

func TestChain(t *testing.T) {
	for _, c := range []struct {
		name string
		of   Unfinished
		want []string
	}{
		{"down to the party that does not answer",
			Unfinished{What: "operation 1", Node: "client.0"},
			[]string{
				"client.0: boot waits for router.0 (Update), since 1s",
				"→ router.0: Update waits for b.0 (Update), since 2s",
				"→ b.0: Update is parked after request.wait, since 3s, for test.docs",
				"→ b.0: hold a/1/1 is parked, since 1s",
				"→ a.0: recovery is sleeping, since 9s, for a/1/1; config.0 (Ensure) answered at " +
					"8s: Refused: no",
			}},
		{"from a record", Unfinished{What: "b has documents left in recipients: 1 (a/1/1)"},
			[]string{
				"b.0: hold a/1/1 is parked, since 1s",
				"→ a.0: recovery is sleeping, since 9s, for a/1/1; config.0 (Ensure) answered at " +
					"8s: Refused: no",
			}},
		{"nobody works for it", Unfinished{What: "b has documents left: 1 (b/2/7)"},
			[]string{"no task on any node works for b/2/7"}},
		{"of a task by name", Unfinished{What: "balancer", Task: "balancer"},
			[]string{"config.0: balancer is parked, since 0s"}},
		{"nothing to go by", Unfinished{What: "2 streams"}, nil},
	} {
		p := Progress{Waiting: stuck()}
		if diff := cmp.Diff(c.want, p.chain(&c.of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What can be followed further comes first, and tasks that a chain tells are not told again.
func TestChainsFirst(t *testing.T) {
	p := Progress{
		Waiting:    stuck(),
		Unfinished: []Unfinished{{What: "2 streams"}, {What: "operation 1", Node: "client.0"}},
	}
	v := p.Check()
	first := &v.Violations[0]
	if first.Broke != "not finished: operation 1" {
		t.Errorf("%q comes first", first.Broke)
	}
	text := strings.Join(first.Because, "\n")
	if strings.Count(text, "hold a/1/1") != 1 || !strings.Contains(text, "also left: config.0") ||
		strings.Contains(text, "journal") {
		t.Errorf("because\n%s", text)
	}
}

// What streams wait for comes before them, even if nobody waits for it.
func TestStreamsLast(t *testing.T) {
	p := Progress{
		Waiting: stuck(),
		Unfinished: []Unfinished{
			{What: "stream 1", Node: "client.0", Stream: true},
			{What: "shard-a has a section"},
		},
	}
	if first := p.Check().Violations[0].Broke; first != "not finished: shard-a has a section" {
		t.Errorf("%q comes first", first)
	}
}
