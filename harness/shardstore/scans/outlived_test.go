package scans

import (
	"testing"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// A query has ended when the member answers it after its collection has ended there.
func TestOutlived(t *testing.T) {
	drop := oplog.Op{Kind: oplog.Drop, NS: ns}
	rename := oplog.Op{Kind: oplog.Rename, NS: ns, ID: "test.more"}
	made := oplog.Op{Kind: oplog.Create, NS: ns}
	for name, c := range map[string]struct {
		concern       command.ReadConcern
		first, second []oplog.Op // what happens before the first batch, and before the next
		one, next     uint64
		lost          bool
		secondary     bool
	}{
		"nothing happens":                 {},
		"dropped between":                 {second: []oplog.Op{drop}, next: 3},
		"renamed between":                 {second: []oplog.Op{rename}, next: 3},
		"made again":                      {second: []oplog.Op{drop, made}, next: 3},
		"a snapshot":                      {concern: command.Snapshot, second: []oplog.Op{drop}},
		"waits for a proof":               {concern: command.Linearizable, second: []oplog.Op{drop}},
		"dropped before":                  {first: []oplog.Op{drop}, one: 3},
		"dropped before, on a secondary":  {first: []oplog.Op{drop}, secondary: true},
		"dropped between, on a secondary": {second: []oplog.Op{drop}, next: 3, secondary: true},
		"made again before":               {first: []oplog.Op{drop, made}},
		"undone":                          {second: []oplog.Op{drop}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &member{first: 1, data: store.New()}
			m.write(t, made)
			m.write(t, on(t, oplog.Insert, 1))
			s, asks := New(), &env.Exchange{To: "shard-a.0", Mark: env.Mark{Newest: 2}}
			find := &command.Find{NS: ns, Concern: c.concern}
			find.Place.Versioned, find.Place.Shard.Major = true, 1
			for _, op := range c.first {
				m.write(t, op)
			}
			if _, entry := s.Outlived(m, !c.secondary, asks, find, &command.Batch{Cursor: "c"}); entry != c.one {
				t.Errorf("the first batch comes after entry %d, not %d", entry, c.one)
			}
			for _, op := range c.second {
				m.write(t, op)
			}
			if c.lost {
				s.Undone("shard-a.0", 1)
			}
			more := &command.GetMore{Cursor: "c"}
			if _, entry := s.Outlived(m, !c.secondary, asks, more, &command.Batch{}); entry != c.next {
				t.Errorf("the next batch comes after entry %d, not %d", entry, c.next)
			}
		})
	}
}
