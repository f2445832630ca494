package oracle

import (
	"fmt"
	"strconv"
	"strings"

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
	// life is that of the collection, 0 for one that is not sharded.
	life uint64
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
	id := executionID(e.Session(), strconv.Itoa(e.Statement()), uint64(e.Txn()))
	first, again := o.executions[id]
	if again && first.at.Shard != e.Shard && first.at.NS == e.NS && first.at.Key == e.Key &&
		o.drops[e.NS] > first.step && o.world.Set(first.at.Shard).Remembers(first.at) {
		o.twice = append(o.twice, Twice{e.NS, e.Key, e.Session(), e.Txn()})
		return
	}
	kept := *e // events are used again
	o.executions[id] = execution{&kept, e.Step, o.lives[e.NS]}
}

func executionID(session, number string, txn uint64) string {
	return fmt.Sprintf("%s/%d/%s", session, txn, number)
}

// executedIn says whether a statement of a history was executed on a sharded collection, which life
// stands for, whatever name that had.
func (o *Oracle) executedIn(life uint64, statement string, txn uint64) bool {
	session, number, _ := strings.Cut(statement, "\x00")
	first, known := o.executions[executionID(session, number, txn)]
	return known && life != 0 && first.life == life
}
