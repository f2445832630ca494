package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
)

// Twice is a statement of a retryable write that two shards have executed, each as the first it
// knew of, with a drop of its collection between.
type Twice struct {
	NS, Key, Session string
	Txn              int64
}

// execution is the first execution of a statement that a majority of its shard may have.
type execution struct {
	at   *trace.Event
	step uint64
}

// ExecutedTwice lists the statements that a drop has separated from their history: it stays with
// the shard that executed them, and the collection of the same name was made on another. A majority
// of the first shard had the execution, and a majority of the config server the drop, before the
// second.
func (o *Oracle) ExecutedTwice() []Twice { return o.twice }

// noteExecution follows executions of primaries for their clients.
func (o *Oracle) noteExecution(e *trace.Event) {
	if e.Actor != trace.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	id := fmt.Sprintf("%s/%d/%d", e.Session(), e.Txn(), e.Statement())
	first, again := o.executions[id]
	if again && first.at.Shard != e.Shard && first.at.NS == e.NS && first.at.Key == e.Key &&
		o.drops[e.NS] > first.step && o.world.Set(first.at.Shard).Remembers(first.at) {
		o.twice = append(o.twice, Twice{e.NS, e.Key, e.Session(), e.Txn()})
		return
	}
	kept := *e // events are used again
	o.executions[id] = execution{&kept, e.Step}
}
