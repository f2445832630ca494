package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// stage is what all parts of a run share: the system in its world, the history, and what is in
// progress.
type stage struct {
	scenario *scenario.Scenario
	about    *target.Description
	// servers are the nodes of the system.
	servers []target.Node
	system  target.System
	world   *sim.World
	history recorder
	tasks   tasks
	// base is the world's time at which the scenario's begins, deadline until when everything must
	// have come to an end.
	base, deadline env.Time
}

// tasks names the clients, movements and commands that have not ended.
type tasks map[string]bool

func (t tasks) begin(name string) { t[name] = true }
func (t tasks) end(name string)   { delete(t, name) }

// names lists them in order.
func (t tasks) names() []string { return slices.Sorted(maps.Keys(t)) }

// idle reports whether nothing that was asked for is in progress.
func (s *stage) idle() bool { return len(s.tasks) == 0 }

// The nodes besides those of the system. Some are named in trace hashes, so they keep their names.
const (
	// movingOperator is where movements are asked for, commandingOperator where commands are given.
	movingOperator     env.NodeID = "operator.0"
	commandingOperator env.NodeID = "admin.0"
	// quiescingOperator is where the system is brought to its end, surveyor where its nodes are
	// asked for what they hold, prober where it is tried what must be possible then.
	quiescingOperator env.NodeID = "admin.1"
	surveyor          env.NodeID = "auditor.0"
	prober            env.NodeID = "prober.0"
)

// OperatorNode is the node from which movements are asked for.
const OperatorNode = movingOperator

func clientNode(i int) env.NodeID { return env.NodeID(fmt.Sprintf("client.%d", i)) }
func readerNode(i int) env.NodeID { return env.NodeID(fmt.Sprintf("stream-reader.%d", i)) }

// What a system may know of its run.
func (s *stage) AddNode(id env.NodeID, boot env.Boot) { s.world.AddNode(id, boot) }
func (s *stage) Node(id env.NodeID) env.Node          { return s.world.Node(id) }
func (s *stage) Up(id env.NodeID) bool                { return s.world.Up(id) }
func (s *stage) Durable(id env.NodeID, file string, from int) (b []byte, replaced int) {
	return s.world.Durable(id, file, from)
}
func (s *stage) Now() env.Time      { return s.world.Now() }
func (s *stage) Deadline() env.Time { return s.deadline }
func (s *stage) InProgress() int    { return len(s.tasks) }

// able says what the scenario asks for and the system cannot do.
func (s *stage) able() error {
	_, moves := s.system.(target.Mover)
	_, commands := s.system.(target.Commanded)
	_, streams := s.system.(target.ChangeStreams)
	switch {
	case !moves && len(s.scenario.Migrations)+len(s.scenario.Primaries) > 0:
		return errors.New("the target " + s.about.Name +
			" moves no data: the scenario cannot have movements")
	case !commands && len(s.scenario.Commands) > 0:
		return errors.New("the target " + s.about.Name +
			" takes no commands: the scenario cannot have any")
	case !streams && len(s.scenario.Streams) > 0:
		return errors.New("the target " + s.about.Name +
			" has no change streams: the scenario cannot have readers of any")
	}
	return nil
}
