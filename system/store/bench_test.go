package store_test

import (
	"fmt"
	"testing"

	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

func filled(b *testing.B, n int64) *store.Store {
	s := store.New()
	ops := []oplog.Op{{Kind: oplog.Create, NS: "test.docs", Doc: ranged}}
	for i := range n {
		ops = append(ops, oplog.Op{
			Kind: oplog.Insert,
			NS:   "test.docs",
			ID:   id(i),
			Doc:  document(i, i, 0),
		})
	}
	if err := s.Apply(1, ops); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int64{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			ops := make([][]oplog.Op, n)
			for i := range ops {
				ops[i] = []oplog.Op{{
					Kind: oplog.Update,
					NS:   "test.docs",
					ID:   id(int64(i)),
					Doc:  document(int64(i), int64(i), 1),
				}}
			}
			index, i := uint64(1), 0
			for b.Loop() {
				index++
				if i++; i == len(ops) {
					i = 0
				}
				if err := s.Apply(index, ops[i]); err != nil {
					b.Fatal(err)
				}
				s.SetOldest(index - min(index, 50))
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int64{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, wanted := filled(b, n), id(n/3)
			for b.Loop() {
				s.Get("test.docs", wanted, store.Latest)
			}
		})
	}
}
