package shardstore

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// TestMessagesExist holds the names by which faults select messages against the commands
// that nodes send.
func TestMessagesExist(t *testing.T) {
	for _, name := range slices.Concat(
		faults.ControlMessages(), faults.AdministrationMessages(),
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
