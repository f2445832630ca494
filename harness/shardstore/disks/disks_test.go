package disks_test

import (
	"encoding/binary"
	"testing"

	"github.com/shardproof/shardproof/harness/shardstore/disks"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
)

// keeping are disks that have a state up to an index, by member, and nothing of later entries.
type keeping map[env.NodeID]uint64

func (k keeping) read(id env.NodeID, file string, _ int) (b []byte, replaced int) {
	if file != "snapshot" {
		return nil, 0
	}
	return binary.AppendUvarint(binary.AppendUvarint(nil, 1), k[id]), 1
}

// A write is acknowledged when its entry is on as many disks as its concern wants.
func TestWritten(t *testing.T) {
	set := []env.NodeID{"a.0", "a.1", "a.2"}
	for name, c := range map[string]struct {
		kept  keeping
		wants command.WriteConcern
		wrong bool
	}{
		"a majority has it":     {keeping{"a.0": 7, "a.1": 8}, command.Majority, false},
		"one has it":            {keeping{"a.0": 7, "a.1": 6}, command.Majority, true},
		"two of two":            {keeping{"a.0": 7, "a.2": 7}, command.WriteConcern{W: 2}, false},
		"one of two":            {keeping{"a.0": 7, "a.2": 2}, command.WriteConcern{W: 2}, true},
		"two of three":          {keeping{"a.0": 7, "a.2": 7}, command.WriteConcern{W: 3}, true},
		"less than a majority":  {keeping{}, command.WriteConcern{W: 1}, false},
		"nothing is waited for": {keeping{}, command.WriteConcern{}, false},
	} {
		at := oplog.Time{Term: 1, Index: 7}
		if told := disks.New(c.kept.read).Written(at, c.wants, set); (told != "") != c.wrong {
			t.Errorf("%s: told %q", name, told)
		}
	}
}
