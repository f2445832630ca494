package shardstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/system/codec"
)

// TestControlMessagesExist holds the names by which faults select messages against the commands
// that nodes send.
func TestControlMessagesExist(t *testing.T) {
	for _, name := range faults.ControlMessages() {
		known := slices.ContainsFunc(codec.Registered(), func(registered string) bool {
			return registered == name || strings.HasSuffix(registered, "."+name)
		})
		if !known {
			t.Errorf("faults select messages named %s, and there is no such command", name)
		}
	}
}
