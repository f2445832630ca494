package shard

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

// TestExactlyOnce has clients add to counters by retryable writes and repeat each until it is
// acknowledged by a majority, while primaries crash and hand over, critical sections come and go
// and metadata is cleared. However often a statement was sent, the counter holds it once.
func TestExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		disturbances := rapid.SliceOfN(rapid.SampledFrom([]string{
			"crash", "isolate", "stepdown", "section", "clear", "calm",
		}), 1, 8).Draw(t, "disturbances")
		first, sum := countUp(t, seed, disturbances)
		again, _ := countUp(t, seed, disturbances)
		if first != again {
			t.Fatalf("the same run ended with hash %x and with %x", first, again)
		}
		if want := adders * additions; sum != want {
			t.Fatalf("%d additions were acknowledged, the counters hold %d", want, sum)
		}
	})
}

const adders, additions = 3, 6

func countUp(t *rapid.T, seed uint64, disturbances []string) (hash uint64, sum int) {
	c := newTestCluster(3, sim.Options{
		Seed:    seed,
		Network: sim.Network{Duplicate: sim.Always / 20, LoseReply: sim.Always / 20},
	})
	defer c.world.Close()
	c.create()
	left := adders
	for i := range adders {
		c.on("client.0", "adder", func(t env.Task) {
			for txn := range additions {
				c.add(t, i, int64(txn+1))
			}
			left--
		})
	}
	for _, d := range disturbances {
		c.run(20*time.Millisecond, nil)
		c.disturb(d)
	}
	if end := c.run(10*time.Minute, func() bool { return left == 0 }); end != sim.Stopped {
		t.Fatalf("clients do not come to an end: %s, %v", end, c.world.Err())
	}
	c.elect().Member().Store().Scan(testNS, store.Latest, func(_ string, doc bson.Raw) bool {
		sum += int(doc.Lookup("n").Int64())
		return true
	})
	return c.world.Hash(), sum
}

// add sends one statement to one member after the other until it is acknowledged.
func (c *testCluster) add(t env.Task, client int, txn int64) {
	k := int64(client % 2)
	req := &command.Update{
		NS:     testNS,
		Filter: must(bson.Marshal(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}})),
		Change: must(
			bson.Marshal(bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}),
		),
		Upsert:  true,
		Session: command.Session{ID: fmt.Sprint("s", client), Txn: txn},
		Concern: command.Majority,
		Place:   command.Placement{Versioned: true, Shard: c.catalog.ShardVersion("shard-a")},
	}
	for try := 0; ; try++ {
		w, err := timed(t, c, c.ids[try%len(c.ids)], req)
		switch {
		case err == nil && w.ConcernError == "" && w.N == 1:
			return
		case err == nil && w.ConcernError == "":
			panic(fmt.Sprintf("an upsert answered %+v", *w))
		case errcode.Is(err, errcode.TransactionTooOld, errcode.IncompleteTransactionHistory,
			errcode.Internal):
			panic(err)
		}
		t.Sleep(50 * time.Millisecond)
	}
}

func (c *testCluster) disturb(what string) {
	p := c.primary()
	if p == nil {
		return
	}
	id, coll, h := p.Node().ID(), p.Collection(testNS), Holder{trace.Donor, "m"}
	switch what {
	case "crash":
		c.world.Crash(id)
		c.world.At(c.world.Now().Add(3*time.Second), func() { c.world.Restart(id) })
	case "isolate":
		c.isolate()
		c.world.At(c.world.Now().Add(3*time.Second), c.world.HealNetwork)
	case "stepdown":
		c.on(id, "stepdown", func(t env.Task) { p.Member().StepDown(t) })
	case "section":
		coll.EnterWrites(h)
		c.world.At(c.world.Now().Add(40*time.Millisecond), func() { coll.Leave(h) })
	case "clear":
		coll.Clear()
	}
}

// TestScanSeesEveryDocumentOnce reads with any batch size while documents outside a fixed set come
// and go.
func TestScanSeesEveryDocumentOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newTestCluster(1, sim.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		defer c.world.Close()
		c.create()
		batch := rapid.IntRange(1, 7).Draw(t, "batch")
		churn := rapid.SliceOfN(rapid.Int64Range(0, 19), 0, 30).Draw(t, "churn")
		concern := rapid.SampledFrom([]command.ReadConcern{
			command.Local, command.MajorityRead, command.Linearizable,
		}).Draw(t, "concern")
		var seen []int64
		done := c.on("client.0", "scan", func(t env.Task) {
			for k := range int64(10) {
				c.put(t, 2*k)
			}
			c.on("client.0", "churn", func(t env.Task) {
				for _, k := range churn {
					c.toggle(t, 2*k+1)
				}
			})
			seen = c.scan(t, batch, concern)
		})
		c.run(time.Minute, done)
		even := seen[:0:0]
		for i, k := range seen {
			if i > 0 && k <= seen[i-1] {
				t.Fatalf("out of order: %v", seen)
			}
			if k%2 == 0 {
				even = append(even, k)
			}
		}
		if fmt.Sprint(even) != "[0 2 4 6 8 10 12 14 16 18]" {
			t.Fatalf("seen %v", seen)
		}
	})
}

func (c *testCluster) put(t env.Task, k int64) {
	must(send[command.Written](t, c, c.ids[0], &command.Insert{
		NS:      testNS,
		Docs:    []bson.Raw{testDoc(k, "v")},
		Concern: command.Majority,
		Place:   c.place(),
	}))
}

// toggle removes the document, or makes it.
func (c *testCluster) toggle(t env.Task, k int64) {
	filter := must(bson.Marshal(bson.D{{Key: "k", Value: k}}))
	w := must(send[command.Written](t, c, c.ids[0],
		&command.Delete{NS: testNS, Filter: filter, Place: c.place()}))
	if w.N == 0 {
		c.put(t, k)
	}
}

func (c *testCluster) place() command.Placement {
	return command.Placement{Versioned: true, Shard: c.catalog.ShardVersion("shard-a")}
}

func (c *testCluster) scan(t env.Task, batch int, concern command.ReadConcern) (keys []int64) {
	b := must(send[command.Batch](t, c, c.ids[0], &command.Find{
		NS:        testNS,
		Filter:    must(bson.Marshal(bson.D{})),
		BatchSize: batch,
		Concern:   concern,
		Place:     c.place(),
	}))
	for n := 1; ; n++ {
		for _, d := range b.Docs {
			keys = append(keys, d.Lookup("k").Int64())
		}
		if b.Cursor == "" {
			return keys
		}
		b = must(send[command.Batch](t, c, c.ids[0],
			&command.GetMore{Cursor: b.Cursor, BatchSize: batch, Number: n}))
	}
}

// TestQueriesHoldBackDeletion pins ranges at random and compares InUse with a list of who holds
// what.
func TestQueriesHoldBackDeletion(t *testing.T) {
	c := newTestCluster(1, sim.Options{})
	defer c.world.Close()
	coll := c.elect().Collection(testNS)
	rapid.Check(t, func(t *rapid.T) {
		coll.Clear()
		type held struct {
			filter *Filter
			owned  []key.Range
		}
		var open []held
		t.Repeat(map[string]func(*rapid.T){
			"install": func(t *rapid.T) {
				coll.Clear()
				b := rapid.Int64Range(1, 9).Draw(t, "bound")
				coll.Install(foundingTable([]int64{b},
					rapid.Permutation([]string{"shard-a", "shard-b"}).Draw(t, "shards")...))
			},
			"take": func(t *rapid.T) {
				if f := coll.Take(); f != nil {
					open = append(open, held{f, coll.Metadata().Owned()})
				}
			},
			"drop": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				open[i].filter.Drop()
				open[i].filter.Drop()
				open = append(open[:i], open[i+1:]...)
			},
			"": func(t *rapid.T) {
				for k := range int64(10) {
					one, used := key.Range{Min: key.Int(k), Max: key.Int(k + 1)}, false
					for _, h := range open {
						for _, r := range h.owned {
							used = used || r.Overlaps(one)
						}
					}
					if got := coll.InUse(one); got != used {
						t.Fatalf("%v in use: %t, but held is %v", one, got, open)
					}
				}
			},
		})
		for _, h := range open {
			h.filter.Drop()
		}
	})
}
