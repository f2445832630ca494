package shardstore

import (
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
