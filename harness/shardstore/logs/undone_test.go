package logs

import (
	"testing"

	"github.com/shardproof/shardproof/system/oplog"
)

// terms is a log: the terms of its entries, of which the first, from index 3 on, is the oldest.
type terms []uint64

func (l terms) Applied() oplog.Time {
	return oplog.Time{Term: l[len(l)-1], Index: uint64(len(l)) + 2}
}

func (l terms) Entry(index uint64) (e *oplog.Entry, term uint64, ok bool) {
	if index < 3 || index > l.Applied().Index {
		return nil, 0, false
	}
	return &oplog.Entry{}, l[index-3], true
}

// TestUndone: an entry is another one if it is of another term.
func TestUndone(t *testing.T) {
	for name, c := range map[string]struct {
		log         terms
		term, index uint64
		want        bool
	}{
		"it is the last":               {terms{1, 1}, 1, 4, false},
		"it is before the last":        {terms{1, 2}, 1, 3, false},
		"another was written there":    {terms{1, 3}, 1, 4, true},
		"the log is shorter":           {terms{1}, 1, 4, true},
		"the log does not reach there": {terms{2, 2}, 1, 2, false},
		"nothing was written":          {terms{1}, 0, 0, false},
	} {
		if got := Undone(c.log, c.term, c.index); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
