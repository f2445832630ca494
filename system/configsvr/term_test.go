package configsvr_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// TestTermEndsAtAnyTime has the primary lose the lead at every time after it was told to drop a
// collection, or to move a database. A wait of that may have ended well just before: the lock of
// chunks, and in 4.2 the manager of other locks, went with the term.
func TestTermEndsAtAnyTime(t *testing.T) {
	drop := &command.DropCollection{NS: ns}
	for _, c := range []struct {
		profile protocol.Profile
		req     env.Message
	}{
		{protocol.V80, drop}, {protocol.V42, drop},
		{protocol.V42, &command.MovePrimary{Database: "test", To: "shard-b"}},
	} {
		for after := time.Duration(0); after < 4*time.Millisecond; after += 100 * time.Microsecond {
			if err := deposeAfter(c.profile, c.req, after); err != nil {
				t.Errorf("%v, deposed %v after %T: %v", c.profile, after, c.req, err)
			}
		}
	}
}

// deposeAfter needs a slow primary: what comes between the end of a wait and the task that goes on
// has more time there.
func deposeAfter(p protocol.Profile, req env.Message, after time.Duration) error {
	s := newStage()
	defer s.Close()
	s.profile, s.settings = p, settings.Default(p)
	if err := s.Pass(3 * time.Second); err != nil {
		return err
	}
	first := s.Primary(configsvr.Name)
	for _, before := range []env.Message{
		&command.ShardCollection{
			NS: ns, Key: key.Pattern{Field: "k"}, Shards: []string{"shard-a"},
		},
		&command.CreateDatabase{Name: "test"},
	} {
		s.ask(before)
		if err := s.Await(); err != nil {
			return err
		}
	}
	s.World.SetSlowness(first, 300)
	s.ask(req)
	if err := s.Pass(after); err != nil {
		return err
	}
	for _, id := range members {
		if id != first {
			s.Member(id).TakeOver()
			break
		}
	}
	return s.Pass(5 * time.Second)
}

// ask has the driver send a request, whose answer does not matter.
func (s *stage) ask(req env.Message) {
	s.Send("driver", "ask", func(t env.Task) {
		_, _ = rpc.CallPrimary[command.Done](t, s.config, req, s.settings.CommandTimeout)
	})
}

// TestMigrationOfAnEndedTerm has the balancer ask for a migration in a task that begins when its
// term has ended.
func TestMigrationOfAnEndedTerm(t *testing.T) {
	s := newStage()
	defer s.Close()
	s.profile, s.settings = protocol.V42, settings.Default(protocol.V42)
	if err := s.Pass(3 * time.Second); err != nil {
		t.Fatal(err)
	}
	first := s.Primary(configsvr.Name)
	term, ended := s.Member(first).TermScope(), error(nil)
	s.StepDown(first)
	if err := s.Pass(time.Second); err != nil {
		t.Fatal(err)
	}
	s.World.Node(first).Spawn(term, "balance", func(own env.Task) {
		ended = s.configs[first].Migrate(own, &command.MoveRange{NS: ns}, catalog.Chunk{})
	})
	if err := s.Pass(time.Second); err != nil || ended == nil {
		t.Errorf("%v; the migration ended with %v", err, ended)
	}
}
