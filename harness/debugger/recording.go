package debugger

import (
	"strings"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/sim"
)

// Recording is what one replay of a run shows besides its events.
type Recording struct {
	// Messages are those that were sent, in that order.
	Messages []Message
}

// Message is a message between two nodes.
type Message struct {
	// From and To are nodes, Class what it is, with ".reply" behind it for an answer.
	From, To, Class string
	// Sent and Arrived are virtual nanoseconds. A message that did not arrive has Arrived -1, and
	// Lost when the network lost it.
	Sent, Arrived int64
	Lost          bool
	// Step is the first one after it was sent.
	Step uint64
}

// Record replays the whole run once. Afterwards At has the frames of these steps, which ascend.
func (f *Film) Record(steps []uint64) (*Recording, error) {
	w := &recorder{
		made:    &Recording{},
		camera:  camera{steps: steps, frames: f.frames},
		pending: map[packet]int{},
	}
	_, err := runner.Run(f.plan, runner.Options{
		Targets: target.Set{f.Result.Target},
		Pool:    &f.pool,
		Steps:   f.Result.Steps,
		Observers: []runner.Observer{
			{Message: w.sent, Step: w.step, Look: w.look},
		},
		Unchecked: true,
	})
	return w.made, err
}

// recorder watches the replay.
type recorder struct {
	made   *Recording
	camera camera
	// pending are the messages on their way, by position.
	pending map[packet]int
	// moved are the positions of messages that were sent or arrived since the last look, which is
	// when the time is known.
	moved []movement
}

// packet names a message: the Nth of its channel.
type packet struct {
	site string
	nth  uint64
}

type movement struct {
	at      int
	arrived bool
}

func (w *recorder) sent(p sim.InjectionPoint) {
	link, class, isMessage := strings.Cut(p.Site, "/")
	from, to, isLink := strings.Cut(link, ">")
	if !isMessage || !isLink {
		return
	}
	w.pending[packet{p.Site, p.Nth}] = len(w.made.Messages)
	w.moved = append(w.moved, movement{at: len(w.made.Messages)})
	w.made.Messages = append(w.made.Messages, Message{
		From: from, To: to, Class: class, Arrived: -1,
	})
}

func (w *recorder) step(s sim.Step) {
	if s.Kind != "deliver" && s.Kind != "lose" {
		return
	}
	name := packet{s.Name, s.Nth}
	i, ok := w.pending[name]
	if !ok {
		return
	}
	delete(w.pending, name)
	w.made.Messages[i].Lost = s.Kind == "lose"
	w.moved = append(w.moved, movement{i, s.Kind == "deliver"})
}

func (w *recorder) look(m runner.Moment) {
	for _, x := range w.moved {
		message := &w.made.Messages[x.at]
		if x.arrived {
			message.Arrived = int64(m.Now)
		} else if message.Step == 0 {
			message.Sent, message.Step = int64(m.Now), m.Step
		}
	}
	w.moved = w.moved[:0]
	w.camera.look(m)
}
