package target

import (
	"errors"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// Mover is a System whose data can be moved while it is used. One that is not refuses scenarios
// with movements.
type Mover interface {
	// NewMovements makes the node one from which movements are asked for. It is called from the
	// node's boot.
	NewMovements(node env.Node) Movements
}

// Movements carries out the scenario's movements of data.
type Movements interface {
	// MoveRange and MovePrimary are the steps of a movement, carried out one after the other from a
	// task of their own. What comes of it is reported by the system's events: an answer may be lost
	// like any other.
	MoveRange(m scenario.Migration) []Step
	MovePrimary(m scenario.MovePrimary) []Step
}

// Step is a part of a movement that an operator starts. A system that moves by itself has one of
// them; a system that operators lead through its movements has several, and faults can hit between
// two. After an error the rest of the movement is not tried.
type Step func(t env.Task) error

// Commanded is a System that takes operators' commands.
type Commanded interface {
	// Addressees is how many servers the scenario's command of that number (from 0) is for. Each is
	// given it from a task of its own.
	Addressees(number int) int
	// NewCommands makes the node one from which commands are given. It is called from the node's
	// boot.
	NewCommands(node env.Node) Commands
}

// Commands gives the scenario's commands.
type Commands interface {
	// Give gives the command of that number to one of its addressees, once or until it is done, as
	// operators do.
	Give(t env.Task, number, addressee int)
}

// Quiescer is a System that goes on by itself, such as with a balancer, until an operator brings it
// to an end.
type Quiescer interface {
	// Quiesce is called when all faults have healed. It returns what the operator does from a node
	// of his own and what that is called, nil for nothing. When it has ended, nothing begins by
	// itself any more.
	Quiesce() (name string, do func(t env.Task))
}

// Prober is a System that can try whether what must be possible when everything has come to rest is
// possible.
type Prober interface {
	// Probe is called when the system has been surveyed. It returns what an operator does from a
	// node of his own; what it tries is asked for when it has ended, and before that is what it has
	// tried so far.
	Probe() (do func(t env.Task), tried func() endstate.Trials)
}

// Failover is a System in which one node of a set leads and can hand over.
type Failover interface {
	// HandOver has a leader hand over to a successor that has everything. It does nothing on a node
	// that does not lead.
	HandOver(id env.NodeID)
	// TakeOver has a node try to lead its set at once, although another one leads, which keeps
	// running and hears of it. It does nothing on a node that leads.
	TakeOver(id env.NodeID)
}

// ChangeStreams is a System whose changes can be read as they happen.
type ChangeStreams interface {
	// NewReader makes the node a reader of one collection's changes. It is called from the node's
	// boot.
	NewReader(node env.Node, ns string) Reader
}

// Reader reads one collection's changes, one stream at a time.
type Reader interface {
	// Open opens the stream: behind a token, or from now on when it is nil. It returns where the
	// stream begins. The error is ErrHistoryLost when the history behind that token is not kept any
	// more.
	Open(t env.Task, batch int, after *histories.Token) (histories.Token, error)
	// Next asks for what has come since. An empty batch is an answer. After an error the stream
	// must be opened again.
	Next(t env.Task, batch int) (histories.ChangeBatch, error)
	// Advance has the reader carry on a cluster time: what it asks from now on is asked after that
	// time.
	Advance(to uint64)
	// Reached reports whether a stream at the token was delivered everything of a cluster time.
	Reached(at histories.Token, time uint64) bool
}

// ErrHistoryLost says that a change stream cannot be opened behind a token, for what came next is
// not kept any more.
var ErrHistoryLost = errors.New("the history behind the token is gone")

// Clock is a System that gives its writes cluster times.
type Clock interface {
	// ClusterTime is the newest time that was given to a write, as seen from outside.
	ClusterTime() uint64
	// Loaded says of each document of a collection that is there by which cluster time it was, on
	// the shard that has it: shards' clocks may differ.
	Loaded(ns string) map[int64]uint64
}

// Judge is a System that knows how to judge its own events. It is given every event from the first
// on.
type Judge interface {
	trace.Observer
	// Verdicts are asked for once, when the run is over.
	Verdicts() []checkers.Verdict
}

// Excuser is a System that is known for anomalies, in some of its versions.
type Excuser interface {
	// Excuse turns failures that the system is documented to show into checkers.Documented, and
	// names the anomalies that the run has shown.
	Excuse(history []histories.Op, verdicts []checkers.Verdict) (anomalies []string)
}

// Distributed is a System of which it can be seen how data lie on its shards.
type Distributed interface {
	// Holdings are what the shards own of a sharded collection now. An error says why it is not
	// known.
	Holdings(ns string) ([]Holding, error)
	// Moving is how many movements that the system chose by itself have not ended. Chooses reports
	// whether it chooses any.
	Moving() int
	Chooses() bool
}

// Holding is what a shard owns of a collection.
type Holding struct {
	Shard            string
	Documents, Bytes int64
	Chunks           int
}

// Sample is how a collection lay on the shards at one time.
type Sample struct {
	At       time.Duration // since the scenario's beginning
	NS       string
	Moving   int // movements that the system had chosen and that had not ended
	Holdings []Holding
}
