package generate

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// onceShare is how many percent of the seeds with several migrations have clients whose writes are
// not retryable.
const onceShare = 6

// wholeOnceShare is that share of the seeds with operations on whole collections. These are sent
// without a session as well, and their routers number and repeat them.
const wholeOnceShare = 25

// sendOnce has clients send every write once and without a session, as drivers do that were told
// so.
func sendOnce(s *scenario.Scenario, d keyed.Source, z size) {
	own := d.Fork(0x7f)
	if z.moves > 1 && own.Chance("writes are sent once", onceShare) ||
		len(s.WholeTimes()) > 0 && own.Chance("operations are sent once", wholeOnceShare) {
		s.Set(scenario.Setting{Name: "retryWrites", Value: "0"})
	}
}

// vary draws how clients send what they write, and where databases go.
func vary(d keyed.Source, s *scenario.Scenario, size size) {
	sendOnce(s, d, size)
	batchWrites(d.Fork(0x84), s)
	countMembers(d.Fork(0xb8), s)
	setRarely(d.Fork(0xb9), s, size)
	insertTogether(d.Fork(0xc9), s, size)
	putElsewhere(d.Fork(0x94), s)
	makeDatabases(d.Fork(0xe6), s, size)
	if size.moves > 1 {
		addMistakes(d.Fork(0xd0), s, size)
	}
}

// concernShare is how many percent of the seeds have clients that count members.
const concernShare = 25

// countMembers has clients say of some writes on how many members they must be, and for how long
// they wait. Fewer than a majority are never enough: what becomes of such a write nobody can say.
// One that waits for all members waits in vain while one is down, so that most have a limit.
func countMembers(own keyed.Source, s *scenario.Scenario) {
	if s.Topology.Members < 2 || !own.Chance("concerns", concernShare) {
		return
	}
	share := keyed.Pick(own, "share", 10, 30)
	least := max(2, s.Topology.Members/2+1)
	for i := range s.Ops {
		o := &s.Ops[i]
		each := own.Fork(uint64(o.ID))
		if kind := o.Kind.Of(); kind.Shape != opkind.Keyed || kind.Reads() ||
			!each.Chance("counts", share) {
			continue
		}
		if each.Chance("members", 70) {
			o.W = least + each.IntN(fmt.Sprintf("from %d", least), s.Topology.Members-least+1)
		}
		o.WTimeout = time.Duration(keyed.Pick(each, "wait", 0, 2, 10, 50, 300)) * time.Millisecond
	}
}
