// Package target is what a system must offer to be put under test. The runner, and everything above
// it, knows a system by these terms only; harness/shardstore offers them for the sharded document
// store, and the kvstore example for a store of a few hundred lines.
//
// A Target is a kind of system, a System one that was started for a run. Every System serves
// clients and can be surveyed; whatever else it can do, it says by implementing the small
// interfaces of this package: Witness, Mover, Commanded, Quiescer, Failover, ChangeStreams, Clock,
// Judge, Excuser, Distributed.
//
// Promise: nothing here belongs to one world. Whatever waits is given the env.Task that waits,
// whatever runs is added to the World as a node; a world of real processes carries the same terms.
//
// Refusal: the package holds no behaviour. It knows no scenario's operations beyond their text, and
// no checker's rules.
package target

import (
	"time"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// Target is a kind of system.
type Target interface {
	// Describe is what is known of the system before it is started: the same at every call.
	Describe() *Description
	// Nodes are the servers of a cluster of that size, in the order in which they are added to a
	// world.
	Nodes(size scenario.Topology) []Node
	// Check says what keeps a scenario from being run that is valid by the Description. A
	// *FactError names the line.
	Check(s *scenario.Scenario) error
	// Start adds the servers to the setup's world, each booting by itself. An error says why the
	// cluster is not possible.
	Start(s Setup) (System, error)
}

// Node is a server.
type Node struct {
	ID env.NodeID
	// Set is the replica set, shard or other group to which the node belongs, such as "shard-a".
	// Faults name roles in it: "shard-a.primary".
	Set string
}

// Setup is what a system is started from.
type Setup struct {
	World World
	// Scenario says how large the cluster is and which collections it begins with, preloaded
	// documents included.
	Scenario *scenario.Scenario
	// Settings are those lines of the scenario that are about the system, in their order. The rest
	// are the world's.
	Settings []scenario.Setting
}

// World is where a system lives, and what it may know of its run.
type World interface {
	AddNode(id env.NodeID, boot env.Boot)
	// Node is the running process of a node, nil while it is down. Up reports whether there is one.
	Node(id env.NodeID) env.Node
	Up(id env.NodeID) bool
	// Durable is what every crash of a node's machine leaves of a file, from an offset on, and how
	// often the file was replaced as a whole.
	Durable(id env.NodeID, file string, from int) (b []byte, replaced int)
	// Now is the run's own time. Deadline is when everything must have come to an end.
	Now() env.Time
	Deadline() env.Time
	// InProgress is how many clients, movements and commands have not ended; a Quiesce in progress
	// counts as one.
	InProgress() int
}

// System is a system under test. All methods but those that take a Task are called from outside of
// it, between steps: they look and change nothing.
type System interface {
	// Ready reports whether clients can be served. It is asked whenever a node has emitted
	// trace.Writable.
	Ready() bool
	// NewClient makes the node a client. It is called from the node's boot.
	NewClient(node env.Node) Client
	// Linger is how long an operation of which the client has given up may still take effect.
	Linger() time.Duration
	// Outstanding names everything that has not come to its end and will by itself, such as a
	// migration or a deletion; none when the system is quiescent.
	Outstanding() []string
	// NewSurvey makes the node one that asks servers for what they hold. It is called from the
	// node's boot.
	NewSurvey(node env.Node) Survey
}

// Patient is a System whose clients can be made patient: before the final pass, which shows that
// every key can be read and written, and not how quickly.
type Patient interface {
	BePatient()
}

// Witness is a System that is shown every exchange between nodes: on the side of its caller, when
// the request is sent and when there is an answer, and on that of the node that answers, when the
// request arrives and when there is an answer. It changes nothing; what it keeps it copies.
type Witness interface {
	Sent(x *env.Exchange)
	Arrived(x *env.Exchange)
	Exchanged(x *env.Exchange)
}

// Overhearer is a System that is shown every message that a node sends and that has no answer. It
// changes nothing; what it keeps it copies.
type Overhearer interface {
	Overheard(from env.NodeID, m env.Message)
}

// Disturbed is a System that is told where a fault of chance hits: a node and "", or both ends of a
// link.
type Disturbed interface {
	Disturbed(node, to env.NodeID)
}

// Client is an application with its driver and one session. It carries out one operation at a time.
type Client interface {
	// Do carries out an operation. Tick numbers the moments at which parts of a result arrive, such
	// as a scan's batches.
	Do(t env.Task, op *scenario.Op, tick func() uint64) Answer
}

// BulkInserter is a Client that can send several inserts in one command. A client that is none gets
// them one by one.
type BulkInserter interface {
	// InsertMany carries out inserts into one collection and returns an answer for each.
	InsertMany(t env.Task, ops []scenario.Op) []Answer
}

// Answer is what a client honestly knows when its operation has ended. What it claims too much of
// is reported as a violation of the system's, so a client that cannot be certain says
// histories.Unknown.
type Answer struct {
	// Outcome is empty for an operation that never ended, which is unknown.
	Outcome histories.Outcome
	Result  histories.Result
	// Err is the last error, also of a retry that succeeded; nil for none.
	Err error
	// Retries is how many attempts were made after the first.
	Retries int
	// After and Time are cluster times as in histories.Op; zero for a system without them. Exact:
	// what the operation wrote has the time of Time.
	After, Time uint64
	Exact       bool
	// Since is a cluster time as in histories.Op: zero for a read of which none is known.
	Since uint64
	// Lossy marks a read that may miss documents by contract.
	Lossy bool
}

// Survey asks every node, once the faults have healed, for what it holds.
type Survey interface {
	// Copies is the state of every collection of the scenario: where it belongs, and what each node
	// has of it, leftovers and second owners included. It is asked again for as long as something
	// is left that may go with time.
	Copies(t env.Task) []endstate.Audit
	// Repair is what an operator would run before a survey that is to be judged; it returns a
	// sentence for each thing that had to be repaired. The setting run.repair switches it off.
	Repair(t env.Task) []string
	// Statistics are the servers' own counters at the end, added up over all servers, by name.
	Statistics(t env.Task) map[string]int64
}
