package replset

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// benchmarkEntries measures majority writes of three members, network and disks included.
func benchmarkEntries(b *testing.B, inFlight int) {
	c := newCluster(3, sim.Options{Seed: 1}).start()
	defer c.world.Close()
	m := c.elect()
	left, ended := b.N, 0
	b.ReportAllocs()
	b.ResetTimer()
	for range inFlight {
		c.world.Node(m.cfg.Self).Spawn(nil, "writer", func(t env.Task) {
			for left > 0 {
				left--
				at, err := m.Write(t, put(int64(left%100), "value"))
				if err == nil {
					err = m.Await(t, at, command.Majority)
				}
				if err != nil {
					b.Error(err)
				}
			}
			ended++
		})
	}
	c.run(time.Hour, func() bool { return ended == inFlight })
}

func BenchmarkEntriesOneAtATime(b *testing.B) { benchmarkEntries(b, 1) }
func BenchmarkEntries16InFlight(b *testing.B) { benchmarkEntries(b, 16) }

// BenchmarkIdleSecond is what a set of three costs for a virtual second in which nothing happens.
func BenchmarkIdleSecond(b *testing.B) {
	c := newCluster(3, sim.Options{Seed: 1}).start()
	defer c.world.Close()
	c.elect()
	b.ReportAllocs()
	b.ResetTimer()
	c.run(time.Duration(b.N)*time.Second, nil)
}

// BenchmarkFirstPrimary makes a set of three and waits until it takes writes.
func BenchmarkFirstPrimary(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		c := newCluster(3, sim.Options{Seed: uint64(i)}).start()
		if c.elect() == nil {
			b.Fatal("nobody leads")
		}
		c.world.Close()
	}
}
