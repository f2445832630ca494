package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/histories/scenario"
)

// movements knows which are in progress, for faults that look for somebody who has to do with one.
type movements struct {
	mu     sync.Mutex
	owners map[int64]int // by the lower end of a range: the shard that it was moved to last
	donor  string
	to     string
}

// begin notes a movement. From where is a guess: from where its range was moved last.
func (m *movements) begin(s *scenario.Scenario, move scenario.Migration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owners == nil {
		m.owners = make(map[int64]int)
	}
	from, known := m.owners[move.Min]
	if !known || from == move.To {
		from = (move.To + 1) % s.Topology.Shards
	}
	m.owners[move.Min] = move.To
	m.donor, m.to = attack.ShardName(from), attack.ShardName(move.To)
}

// set is the shard that a role means: any when nothing has moved yet.
func (m *movements) set(role string, shards int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case role != "donor" && role != "recipient":
		return role
	case m.donor == "":
		return attack.ShardName(rand.IntN(shards))
	case role == "donor":
		return m.donor
	}
	return m.to
}

// move asks for the movements of the schedule, a few at once.
func (r *run) move() {
	slots := make(chan struct{}, movesAtOnce)
	var all sync.WaitGroup
	defer all.Wait()
	for _, m := range r.Schedule.Migrations {
		if !r.until(m.At) {
			return
		}
		select {
		case slots <- struct{}{}:
		default:
			r.record.count("moves left out")
			continue
		}
		r.movement.begin(r.Schedule, m)
		all.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(r.ctx, mostMove)
			defer cancel()
			err := r.System.Move(ctx, m)
			r.counted("moves", err)
			r.Log.Info("move", "id", m.ID, "to", attack.ShardName(m.To), "result", shown(err))
		})
	}
}

func (r *run) counted(what string, err error) {
	if err != nil {
		what += " failed"
	} else {
		what += " done"
	}
	r.record.count(what)
}

// command gives the operators' commands of the schedule.
func (r *run) command() {
	for _, c := range r.Schedule.Commands {
		if !r.until(c.At) {
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, mostMove)
		err := r.System.Command(ctx, c)
		cancel()
		r.counted("command "+string(c.Do), err)
		r.Log.Info("command", "line", c.String(), "result", shown(err))
	}
}

// attackServers does the faults of the schedule, and undoes each at its end or at that of the
// phase.
func (r *run) attackServers() {
	var all sync.WaitGroup
	defer all.Wait()
	for _, f := range r.Schedule.Faults {
		if !r.until(f.When.At) {
			return
		}
		all.Go(func() {
			since := time.Now()
			err := r.fault(f)
			r.counted("fault "+f.Kind, err)
			r.record.inForce(f.Kind, since)
			if err != nil {
				r.Log.Warn("fault", "id", f.ID, "kind", f.Kind, "target", f.Target,
					"result", shown(err))
			}
		})
	}
}

// fault does one fault and undoes it.
func (r *run) fault(planned scenario.Fault) error {
	f, err := r.aim(planned)
	if err != nil {
		return err
	}
	r.Log.Info("fault", "id", f.ID, "kind", f.Kind.Name, "node", f.Node, "other", f.Other)
	if f.Kind.Name == attack.StepDown {
		ctx, cancel := context.WithTimeout(r.ctx, mostRepair)
		defer cancel()
		return r.System.StepDown(ctx, f.Node)
	}
	undo, err := r.Servers.Inject(r.ctx, f)
	if undo == nil {
		return err
	}
	end := planned.When.At + planned.For
	if planned.For == 0 && !f.Kind.Ends {
		end = r.Schedule.FaultsEnd
	}
	r.until(end)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), mostRepair)
	defer cancel()
	if failed := undo(ctx); failed != nil {
		return fmt.Errorf("it is not undone: %w", failed)
	}
	r.Log.Info("repaired", "id", f.ID, "kind", f.Kind.Name, "node", f.Node)
	return err
}

// aim finds the servers that a fault means now.
func (r *run) aim(planned scenario.Fault) (*Fault, error) {
	kind, err := attack.FindKind(planned.Kind)
	if err != nil {
		return nil, err
	}
	f := &Fault{Fault: planned, Kind: kind}
	first, second, link := strings.Cut(planned.Target, ">")
	switch {
	case kind.Aim == attack.AtAll:
		return f, nil
	case kind.Aim == attack.AtSet:
		f.Node = r.movement.set(planned.Target, r.Schedule.Topology.Shards)
		return f, nil
	}
	if f.Node, err = r.resolve(first); err == nil && link {
		f.Other, err = r.resolve(second)
	}
	if err == nil && f.Node == f.Other {
		err = fmt.Errorf("both ends of %s are %s now", planned.Target, f.Node)
	}
	return f, err
}

func (r *run) resolve(role string) (string, error) {
	set, member, _ := strings.Cut(role, ".")
	set = r.movement.set(set, r.Schedule.Topology.Shards)
	return r.Servers.Resolve(r.ctx, set+"."+member)
}
