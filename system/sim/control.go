package sim

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// AddNode adds a node and boots its first incarnation: boot runs in its first task, at the next
// step.
func (w *World) AddNode(id env.NodeID, boot env.Boot) {
	if w.byID[id] != nil {
		panic(fmt.Sprintf("node %s was added twice", id))
	}
	m := &machine{
		world:    w,
		id:       id,
		index:    len(w.machines),
		boot:     boot,
		slowness: 1,
		asked:    make(map[questionName]*question),
	}
	m.disk = disk{machine: m, files: make(map[string]*file), slowness: 1}
	w.machines = append(w.machines, m)
	w.byID[id] = m
	m.start()
}

// Nodes are the nodes in the order in which they were added.
func (w *World) Nodes() []env.NodeID {
	ids := make([]env.NodeID, len(w.machines))
	for i, m := range w.machines {
		ids[i] = m.id
	}
	return ids
}

// Up reports whether a process of the node is running.
func (w *World) Up(id env.NodeID) bool { return w.machine(id).life != nil }

// Node is the node's present incarnation, nil while it is down. Control code may use it to look,
// and to Spawn.
func (w *World) Node(id env.NodeID) env.Node {
	if n := w.machine(id).life; n != nil {
		return n
	}
	return nil
}

func (w *World) machine(id env.NodeID) *machine {
	m := w.byID[id]
	if m == nil {
		panic(fmt.Sprintf("no node %q in this world", id))
	}
	return m
}

func (m *machine) start() {
	n := &node{world: m.world, machine: m, incarnation: len(m.lives) + 1}
	m.life = n
	m.lives = append(m.lives, n)
	m.world.note(stepUp, m, "incarnation", uint64(n.incarnation), 0)
	m.world.emit(m, trace.NodeUpEvent{Incarnation: n.incarnation}.Event())
	n.Spawn(nil, "boot", m.boot)
}

// Crash ends the node's process; it does nothing when the node is down. Its tasks never run again.
// A call from one of these tasks (by way of OnPoint) returns, and the task then goes no further
// than its next wait.
func (w *World) Crash(id env.NodeID) {
	m := w.machine(id)
	n := m.life
	if n == nil || w.frozen {
		return
	}
	m.life = nil
	w.note(stepDown, m, "incarnation", uint64(n.incarnation), 0)
	w.emit(m, trace.NodeDownEvent{Incarnation: n.incarnation}.Event())
	n.dead = true
	w.hangUp(n)
	m.disk.crash()
}

// Restart boots a node that is down, with what its disk kept; it does nothing when the node is up.
func (w *World) Restart(id env.NodeID) {
	if m := w.machine(id); m.life == nil && !w.frozen {
		m.start()
	}
}

// SetSlowness sets the factor on the node's service times and disk latencies; 1 is normal.
func (w *World) SetSlowness(id env.NodeID, factor int) {
	w.machine(id).slowness = int64(max(factor, 1))
}

// Interrupt kills operations: every present and later wait of the node's tasks that match fails
// with err. It returns how many there were.
func (w *World) Interrupt(id env.NodeID, match func(task string) bool, err error) (killed int) {
	n := w.machine(id).life
	if n == nil {
		return 0
	}
	for t := n.first; t != nil; t = t.next {
		if match(t.Name()) {
			t.Interrupt(err)
			killed++
		}
	}
	return killed
}

// Waiting is a task that is not running.
type Waiting struct {
	Node  env.NodeID
	Task  string
	State string
}

// String is "node: task is state".
func (p Waiting) String() string { return fmt.Sprintf("%s: %s is %s", p.Node, p.Task, p.State) }

// Tasks lists every task of the nodes that are up, by node and start. After an Idle run these wait
// forever.
func (w *World) Tasks() []Waiting {
	var all []Waiting
	for _, m := range w.machines {
		if m.life == nil {
			continue
		}
		for t := m.life.first; t != nil; t = t.next {
			all = append(all, Waiting{m.id, t.Name(), stateNames[t.state]})
		}
	}
	return all
}
