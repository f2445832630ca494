package runner

import (
	"cmp"
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// worldOptions is the world that the scenario asks for.
func (r *run) worldOptions() sim.Options {
	c := &r.conditions
	o := sim.Options{
		OnInjectionPoint: r.onInjectionPoint(),
		OnDecision:       r.onDecision,
		OnStep:           r.onStep(),
		Between:          r.betweenSteps(),
		Seed:             r.scenario.Seed,
		Planned:          r.scenario.Planned,
		Decisions:        decisions(r.scenario.Decisions),
		Witness:          r.witness(),
		OnOneWay:         r.overhear,
		Classify:         r.about.Messages.Classify(),
		Describe:         r.about.Messages.Describe,
		Observer:         r,
		OnPoint:          r.onPoint,
		Pool:             r.options.Pool,
		Trace:            r.options.Trace,
		Window:           r.options.Window,
		YieldProbability: sim.Probability(c.yield),
		Steps:            cmp.Or(r.options.Steps, stepBudget),
	}
	o.Network.TailDelay, o.Network.ChainDelay = c.tailDelay, c.chainDelay
	o.Network.Latency = func(from, to env.NodeID) sim.Latency {
		if from == to {
			return sim.Latency{Base: 5 * time.Microsecond}
		}
		return sim.Latency{Base: c.latency, Jitter: c.jitter}
	}
	o.Disk.TailDelay = c.diskDelay
	o.Disk.Sync = sim.Latency{Base: c.sync, Jitter: c.sync}
	if c.codec != 0 {
		o.Codec = r.about.Messages.Codec
	}
	return o
}

// witness shows every exchange to those who judge it, if there are any: first to the one who makes
// events of it, then to the system's own, who alone is shown requests without an answer.
func (r *run) witness() func(env.Node, *env.Exchange) {
	emit := r.about.Messages.Witness
	return func(n env.Node, x *env.Exchange) {
		judge, judges := r.system.(target.Witness)
		switch {
		case x.Sent || x.Arrived:
			if judges {
				ask(judge, x)
			}
			return
		case emit != nil:
			emit(n, x)
		}
		if judges {
			judge.Exchanged(x)
		}
		r.keep(x)
	}
}

// overhear shows a message that has no answer to the system that listens to such.
func (r *run) overhear(from env.NodeID, m env.Message) {
	if listener, listens := r.system.(target.Overhearer); listens {
		listener.Overheard(from, m)
	}
}

// ask shows a request to which there is no answer yet.
func ask(judge target.Witness, x *env.Exchange) {
	if x.Sent {
		judge.Sent(x)
	} else {
		judge.Arrived(x)
	}
}

// stepBudget ends a run that never comes to rest; an ordinary one takes a hundredth of it.
const stepBudget = 20_000_000

func decisions(of []scenario.Decision) []sim.Decision {
	out := make([]sim.Decision, len(of))
	for i, d := range of {
		out[i] = sim.Decision(d)
	}
	return out
}
