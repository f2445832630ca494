package placements_test

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/shardstore/placements"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
)

// log has entries, the first at index 1: "w" is a write, "s" signals a change of test.docs, "o" one
// of another collection, and "b" begins a term.
type log string

func (l log) Applied() oplog.Time { return oplog.Time{Term: 1, Index: uint64(len(l))} }

func (l log) Entry(index uint64) (*oplog.Entry, uint64, bool) {
	switch l[index-1] {
	case 'b':
		return &oplog.Entry{}, 2, true
	case 's':
		return signal("test.docs"), 1, true
	case 'o':
		return signal("test.other"), 1, true
	}
	return &oplog.Entry{Ops: []oplog.Op{{NS: "test.docs"}}}, 1, true
}

func signal(ns string) *oplog.Entry {
	return &oplog.Entry{Ops: []oplog.Op{{
		NS: shard.CacheNS, Tag: shard.InvalidateTag, ID: string(key.String(ns)),
	}}}
}

// A placement is outdated by a signal or another primary after it was asked for, if the member had
// that entry when the query came.
func TestOutdated(t *testing.T) {
	const node, ns = "a.1", "test.docs"
	asked := func(s *placements.Secondaries, at, now log) {
		s.Asked(node, ns, at)
		s.Answered(node, ns, oplog.Time{})
		s.Installed(node, ns, now)
	}
	for name, c := range map[string]struct {
		before  func(s *placements.Secondaries)
		arrived uint64
		log     log
		want    string
	}{
		"nothing is known": {func(*placements.Secondaries) {}, 3, "wsb", ""},
		"only writes":      {func(s *placements.Secondaries) { asked(s, "w", "w") }, 3, "www", ""},
		"another collection": {
			func(s *placements.Secondaries) { asked(s, "w", "w") }, 3, "woo", "",
		},
		"a signal": {
			func(s *placements.Secondaries) { asked(s, "w", "w") }, 3, "wws", "entry 3 of term 1",
		},
		"a signal after the query came": {
			func(s *placements.Secondaries) { asked(s, "w", "w") }, 2, "wws", "",
		},
		"another primary": {
			func(s *placements.Secondaries) { asked(s, "w", "w") }, 2, "wb", "entry 2 of term 2",
		},
		"a signal between question and answer": {
			func(s *placements.Secondaries) { asked(s, "w", "ws") }, 2, "ws", "entry 2 of term 1",
		},
		"asked again": {
			func(s *placements.Secondaries) { asked(s, "w", "w"); asked(s, "ws", "ws") }, 2, "ws", "",
		},
		"known without a question": {
			func(s *placements.Secondaries) { s.Installed(node, ns, log("ws")) }, 2, "ws", "",
		},
		"forgotten": {
			func(s *placements.Secondaries) { asked(s, "w", "w"); s.Cleared(node, ns) }, 2, "ws", "",
		},
		"lost with entries": {
			func(s *placements.Secondaries) { asked(s, "w", "w"); s.Undone(node) }, 2, "ws", "",
		},
		"asked before entries were lost": {
			func(s *placements.Secondaries) {
				s.Asked(node, ns, log("w"))
				s.Undone(node)
				s.Answered(node, ns, oplog.Time{})
				s.Installed(node, ns, log("ws"))
			}, 2, "ws", "",
		},
	} {
		var s placements.Secondaries
		c.before(&s)
		why := s.Outdated(node, ns, c.arrived, c.log)
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: got %q, want %q", name, why, c.want)
		}
	}
}

// A member has what its primary had written when it answered, and of the same term, when it uses the
// placement.
func TestInstalled(t *testing.T) {
	for name, c := range map[string]struct {
		log  log
		upto oplog.Time
		want string
	}{
		"it has it":        {"www", oplog.Time{Term: 1, Index: 3}, ""},
		"it has more":      {"www", oplog.Time{Term: 1, Index: 2}, ""},
		"it has less":      {"ww", oplog.Time{Term: 1, Index: 3}, "ends at entry 2"},
		"of another term":  {"wwb", oplog.Time{Term: 1, Index: 3}, "one of term 2 there"},
		"of a term before": {"www", oplog.Time{Term: 2, Index: 3}, "one of term 1 there"},
	} {
		t.Run(name, func(t *testing.T) {
			var s placements.Secondaries
			s.Asked("a.1", "test.docs", c.log)
			s.Answered("a.1", "test.docs", c.upto)
			wrong := s.Installed("a.1", "test.docs", c.log)
			if wrong == "" != (c.want == "") || !strings.Contains(wrong, c.want) {
				t.Errorf("%q, not %q", wrong, c.want)
			}
		})
	}
}
