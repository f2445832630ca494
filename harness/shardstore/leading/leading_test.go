package leading_test

import (
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/harness/shardstore/leading"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/replset"
)

var set = []env.NodeID{"a.0", "a.1", "a.2"}

// TestLacks: proof is an answer of one more than half of the set, in the leader's own term, that was
// sent after the request had arrived.
func TestLacks(t *testing.T) {
	type sent struct {
		by   env.NodeID
		kind pb.MessageType
		term uint64
		at   env.Time
		to   uint64
	}
	for name, c := range map[string]struct {
		sent  []sent
		lacks bool
	}{
		"nobody":           {nil, true},
		"one other":        {[]sent{{"a.1", pb.MsgHeartbeatResp, 3, 11, 1}}, false},
		"an entry":         {[]sent{{"a.2", pb.MsgAppResp, 3, 11, 1}}, false},
		"before it":        {[]sent{{"a.1", pb.MsgHeartbeatResp, 3, 9, 1}}, true},
		"at its arrival":   {[]sent{{"a.1", pb.MsgHeartbeatResp, 3, 10, 1}}, true},
		"a later term":     {[]sent{{"a.1", pb.MsgHeartbeatResp, 4, 11, 1}}, true},
		"an earlier term":  {[]sent{{"a.1", pb.MsgHeartbeatResp, 1, 11, 1}}, false},
		"another led then": {[]sent{{"a.1", pb.MsgHeartbeatResp, 1, 11, 3}}, true},
		"no answer":        {[]sent{{"a.1", pb.MsgVote, 3, 11, 1}}, true},
		"the leader alone": {[]sent{{"a.0", pb.MsgAppResp, 3, 11, 1}}, true},
		"a term that is over since": {[]sent{
			{"a.1", pb.MsgAppResp, 3, 11, 1}, {"a.1", pb.MsgAppResp, 4, 12, 1}}, false},
	} {
		r := leading.New()
		for _, s := range c.sent {
			r.Sent(s.by, &replset.Raft{Type: s.kind, Term: s.term, To: s.to}, s.at)
		}
		x := &env.Exchange{To: "a.0", Began: 10}
		if got := r.Lacks(x, &command.Find{}, 3, set); got != c.lacks {
			t.Errorf("%s: lacks proof %v", name, got)
		}
	}
	if leading.New().Lacks(&env.Exchange{To: "a.0"}, &command.Find{}, 3, set[:1]) {
		t.Error("who is alone in its set needs nobody")
	}
}

// TestLacksForWork: what has proved the first request for some work is proof for its repetition.
func TestLacksForWork(t *testing.T) {
	for _, c := range []struct{ asked, other env.Message }{
		{&command.RecvChunkCommit{Session: "s"}, &command.RecvChunkCommit{Session: "t"}},
		{
			&command.ShardsvrMovePrimary{Database: "d", To: "b"},
			&command.ShardsvrMovePrimary{Database: "d", To: "c"},
		},
	} {
		r := leading.New()
		first, again := &env.Exchange{To: "a.0", Began: 5}, &env.Exchange{To: "a.0", Began: 10}
		r.Arrived(first, c.asked, 5)
		if !r.Lacks(first, c.asked, 3, set) {
			t.Errorf("%T: nobody has answered yet", c.asked)
		}
		r.Sent("a.1", &replset.Raft{Type: pb.MsgAppResp, Term: 3, To: 1}, 7)
		r.Arrived(again, c.asked, 10)
		if r.Lacks(again, c.asked, 3, set) {
			t.Errorf("%T: the repetition is answered by the proof for the first", c.asked)
		}
		r.Arrived(again, c.other, 10)
		if !r.Lacks(again, c.other, 3, set) {
			t.Errorf("%T: other work needs proof of its own", c.asked)
		}
	}
}

// TestByUsers: who reads or writes with a lesser concern takes what it gets.
func TestByUsers(t *testing.T) {
	for _, c := range []struct {
		asked env.Message
		want  bool
	}{
		{&command.Find{Concern: command.Linearizable}, true},
		{&command.Find{}, false},
		{&command.GetMore{}, false},
		{&command.Insert{Concern: command.Majority}, true},
		{&command.Update{Concern: command.Majority}, true},
		{&command.Delete{Concern: command.Majority}, true},
		{&command.FindAndModify{Concern: command.Majority}, true},
		{&command.FindAndModify{Concern: command.WriteConcern{W: 2}}, false},
	} {
		if got := leading.ByUsers(c.asked); got != c.want {
			t.Errorf("%#v: %v", c.asked, got)
		}
	}
}

// TestByServers: what 8.0 has on record or ends with a session, only the primary of 4.2 knows.
func TestByServers(t *testing.T) {
	if !leading.ByServers("a.0", &command.CollectionOptions{}, false) ||
		leading.ByServers("a.0", &command.CollectionOptions{}, true) ||
		leading.ByServers("a.0", &command.MigrateClone{}, false) ||
		!leading.ByServers("a.0", &command.RecvChunkCommit{}, false) ||
		leading.ByServers("a.0", &command.RecvChunkCommit{}, true) ||
		leading.ByServers("a.0", &command.ShardsvrMoveRange{}, true) ||
		!leading.ByServers("a.0", &command.ShardsvrMovePrimary{To: "b"}, true) ||
		leading.ByServers("a.0", &command.ShardsvrMovePrimary{To: "a"}, true) {
		t.Error("the wrong requests need proof")
	}
}
