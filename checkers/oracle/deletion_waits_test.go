package oracle

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
)

// A deletion that nobody waits for begins as late as operators have set. A line of the script takes
// ten milliseconds, and a clock may gain half as much again.
func TestDeletionDelay(t *testing.T) {
	const (
		ready, first = "task a.0 m1 - m ready 2\n", "clean a.0 1 2 c m1\n"
		wait         = "fault a.0 pause\nfault a.0 pause\n"
	)
	for name, c := range map[string]struct {
		script    string
		delay     time.Duration
		waits     bool
		protocol  migrationmodel.Protocol
		signature verdict.Signature
	}{
		"late enough":    {script: ready + wait + first, delay: 40 * time.Millisecond},
		"too soon":       {script: ready + first, delay: 40 * time.Millisecond, signature: deletedSoon},
		"without delay":  {script: ready + first},
		"somebody waits": {script: ready + first, delay: time.Second, waits: true},
		"of 4.2": {
			script: ready + first, delay: time.Second, protocol: migrationmodel.V42,
			signature: deletedSoon,
		},
		"of 4.2, while it comes back": {
			script: ready + "receive a.0 m2 - c kReady\n" + first, delay: time.Second,
			protocol: migrationmodel.V42,
		},
		"of 4.2, while another range comes": {
			script: ready + "receive a.0 m2 m + kReady\n" + first, delay: time.Second,
			protocol: migrationmodel.V42, signature: deletedSoon,
		},
		"the next document": {
			script: ready + wait + first + "clean a.0 1 3 d m1\n", delay: 40 * time.Millisecond,
		},
		"begun once more by another primary": {
			script: ready + wait + "elected a.1 2 1 1:1\ntask a.1 m1 - m ready 2\n" +
				"clean a.1 2 2 c m1\n",
			delay: 40 * time.Millisecond,
		},
		"on the recipient": {
			script: "task b.0 m1 - m ready 2\nclean b.0 1 2 c m1\n", delay: time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Speaks(c.protocol)
			s.o.Limit(func() Limits { return Limits{Deletion: c.delay} })
			s.o.MovesRange(Wish{Name: "7", NS: "test.docs", Waits: c.waits})
			s.lines(t, moved)
			s.o.move("m1").request = "7"
			s.lines(t, c.script)
			got := s.o.verdicts[deletionRule.Name]
			found := verdict.Signature("")
			for _, v := range got.Violations {
				if v.Signature == deletedSoon {
					found = v.Signature
				}
			}
			if found != c.signature {
				t.Errorf("found %q, want %q: %v", found, c.signature, got.Violations)
			}
		})
	}
}
