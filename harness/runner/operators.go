package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/env"
)

// operators ask for movements and give commands, each at its time and from a task of its own.
type operators struct {
	*stage
	// waiting are those whose time has not come, early is for those that are to go ahead.
	waiting []*appointment
	early   env.Cond
}

// appointment is when a movement is asked for or a command given, the latest time at which it is.
type appointment struct {
	at      time.Duration
	hurried bool
}

// startMovements asks for every movement of the scenario.
func (o *operators) startMovements() {
	s := o.scenario
	if len(s.Migrations)+len(s.Primaries) == 0 {
		return
	}
	for _, m := range s.Migrations {
		o.tasks.begin(moveName(m.ID))
	}
	for _, m := range s.Primaries {
		o.tasks.begin(primaryName(m.ID))
	}
	o.world.AddNode(movingOperator, func(t env.Task) {
		moves := o.system.(target.Mover).NewMovements(t.Node())
		for _, m := range s.Migrations {
			steps := moves.MoveRange(m)
			o.at(t, moveName(m.ID), m.At, func(t env.Task) { carryOut(t, steps) })
		}
		for _, m := range s.Primaries {
			steps := moves.MovePrimary(m)
			o.at(t, primaryName(m.ID), m.At, func(t env.Task) { carryOut(t, steps) })
		}
	})
}

func moveName(id int) string    { return fmt.Sprintf("move %d", id) }
func primaryName(id int) string { return fmt.Sprintf("move-primary %d", id) }

// carryOut goes through the steps of a movement until one fails.
func carryOut(t env.Task, steps []target.Step) {
	for _, do := range steps {
		if do(t) != nil {
			return
		}
	}
}

// at does something at its time.
func (o *operators) at(t env.Task, name string, at time.Duration, do func(env.Task)) {
	when := &appointment{at: at}
	o.waiting = append(o.waiting, when)
	t.Spawn(name, func(t env.Task) {
		defer o.tasks.end(name)
		if o.wait(t, when) == nil {
			do(t)
		}
	})
}

// wait ends at the time of an appointment, or when somebody hurries it.
func (o *operators) wait(t env.Task, when *appointment) error {
	defer func() {
		o.waiting = slices.DeleteFunc(o.waiting, func(a *appointment) bool { return a == when })
	}()
	left := o.base.Add(when.at).Sub(o.world.Now())
	if left <= 0 {
		return t.Sleep(left)
	}
	err := o.early.WaitFor(t, left, func() bool { return when.hurried })
	if err != nil && t.Err() == nil {
		return nil // its time has come
	}
	return err
}

// hurry has the next appointment come at once.
func (o *operators) hurry() {
	var next *appointment
	for _, a := range o.waiting {
		if !a.hurried && (next == nil || a.at < next.at) {
			next = a
		}
	}
	if next != nil {
		next.hurried = true
		o.early.Broadcast()
	}
}

// startCommands gives every command of the scenario.
func (o *operators) startCommands() {
	commands := o.scenario.Commands
	if len(commands) == 0 {
		return
	}
	system := o.system.(target.Commanded)
	o.world.AddNode(commandingOperator, func(t env.Task) {
		give := system.NewCommands(t.Node())
		for i, c := range commands {
			for n := range system.Addressees(i) {
				o.at(t, commandName(i, n), c.At, func(t env.Task) { give.Give(t, i, n) })
			}
		}
	})
	for i := range commands {
		for n := range system.Addressees(i) {
			o.tasks.begin(commandName(i, n))
		}
	}
}

// commandName names what the nth addressee is asked by a command.
func commandName(command, n int) string { return fmt.Sprintf("command %d/%d", command+1, n+1) }
