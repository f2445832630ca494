package shardstore

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// TestMessagesExist holds the names by which faults select messages against the commands
// that nodes send.
func TestMessagesExist(t *testing.T) {
	everything := &scenario.Scenario{
		Balancer: true, Primaries: make([]scenario.MovePrimary, 1),
		Streams: make([]scenario.Stream, 1), Ops: []scenario.Op{{Kind: scenario.Drop}},
	}
	for _, name := range slices.Concat(
		faults.ControlMessages(), faults.AdministrationMessages(), faults.Questions(everything),
	) {
		known := slices.ContainsFunc(codec.Registered(), func(registered string) bool {
			return registered == name || strings.HasSuffix(registered, "."+name)
		})
		if !known {
			t.Errorf("faults select messages named %s, and there is no such command", name)
		}
	}
}

// TestStatementsTravelOnce: what a client's session numbers is delivered once, unless the number is
// also kept of what changed nothing. A copy of a statement that found nothing to do would be
// executed when it comes, long after its client was answered.
func TestStatementsTravelOnce(t *testing.T) {
	session := reflect.TypeFor[command.Session]()
	statements := 0
	for _, name := range codec.Registered() {
		class, of := strings.CutPrefix(name, "command.")
		m, _ := codec.New(name)
		if !of || reflect.TypeOf(m).Elem().Kind() != reflect.Struct {
			continue
		}
		f, numbered := reflect.TypeOf(m).Elem().FieldByName("Session")
		if !numbered || f.Type != session {
			continue
		}
		statements++
		if faults.MayDouble(class) && faults.RoleOf(class) != faults.Administration {
			t.Errorf("a copy of %s may be delivered", class)
		}
	}
	if statements < 8 {
		t.Errorf("only %d commands are statements of sessions", statements)
	}
}

// TestAnswerText: a refusal in its own words, and of any other answer the fields that are set.
func TestAnswerText(t *testing.T) {
	refused := &rpc.Envelope{Err: errcode.New(errcode.BadValue, "no such shard")}
	for want, m := range map[string]env.Message{
		"BadValue: no such shard": refused,
		"RemoveShardReply State ongoing, Chunks 2, Databases (1)": &rpc.Envelope{
			Body: &command.RemoveShardReply{
				State: command.RemovalOngoing, Chunks: 2, Databases: []string{"test"},
			},
		},
		"RemoveShardReply": &command.RemoveShardReply{},
	} {
		if got := answerText(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTell: a story is told what was asked with which arguments, what was answered and which
// documents came, and nothing of what is asked all the time.
func TestTell(t *testing.T) {
	doc := func(n int64) bson.Raw {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: n}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	session := command.Session{ID: "client.2/1", Txn: 4, Stmt: 1}
	for _, c := range []struct {
		asked, reply env.Message
		refused      error
		to           env.NodeID
		want         string
	}{
		{&command.TransferMods{Session: "a_b_a/1/1", Number: 3},
			&command.Mods{Deletes: []string{"x"}, Reloads: []bson.Raw{doc(7)}}, nil, "a.0",
			"Session a_b_a/1/1, Number 3 → Mods Deletes (1), Reloads (1), not More, 2 documents"},
		{&command.Delete{NS: "test.docs", Session: session},
			&command.Written{N: 1}, nil, "a.0",
			"session client.2/1, transaction 4, statement 1, without a version → " +
				"n 1, modified 0, for client.2/1"},
		{&command.Update{Place: command.Placement{Versioned: true}},
			&command.Written{N: 1, Retried: true}, nil, "a.0",
			"version 0|0|| → n 1, modified 0, found on record as executed before"},
		{&command.RangeTaskOp{Op: "ready"}, &command.RangeTaskReply{}, nil, "a.0",
			"Op ready → RangeTaskReply not Found"},
		{&command.StepDown{}, nil, errcode.New(errcode.BadValue, "no"), "a.0", " → BadValue: no"},
		{&command.Hello{}, &command.HelloReply{}, nil, "a.0", ""},
		{&command.Find{}, &command.Batch{}, nil, "router.0", ""},
	} {
		x := env.Exchange{From: "client.2", To: c.to, Request: &rpc.Envelope{Body: c.asked},
			Err: c.refused, Served: true}
		if c.reply != nil {
			x.Reply = &rpc.Envelope{Body: c.reply}
		}
		got := ""
		if e, about := tell(&x); e != nil {
			got = strings.Join(e.Arguments, ", ") + " → " + e.Answer
			if n := len(e.Carried); n > 0 {
				got += fmt.Sprintf(", %d documents", n)
			}
			if about != "" {
				got += ", for " + about
			}
		}
		if got != c.want {
			t.Errorf("%T is told as %q, not %q", c.asked, got, c.want)
		}
	}
}
