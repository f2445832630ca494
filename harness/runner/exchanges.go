package runner

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// passages are the failpoint sites that tasks of a node have passed for an identifier lately.
type passages map[passer][]trace.Passage

type passer struct {
	node  env.NodeID
	about string
}

// mostPassages is how many are kept of one identifier on a node: a request passes fewer.
const mostPassages = 64

// observer takes every passage.
func (p passages) observer(now func() env.Time) Observer {
	return Observer{Point: func(hit *sim.PointHit) {
		if hit.Note.ID == "" {
			return
		}
		by := passer{hit.Node, hit.Note.ID}
		all := p[by]
		if len(all) == mostPassages {
			all = append(all[:0], all[1:]...)
		}
		p[by] = append(all, trace.Passage{Site: hit.Site.String(), At: int64(now())})
	}}
}

// since are the passages of an identifier on a node from a time on.
func (p passages) since(node env.NodeID, about string, from env.Time) []trace.Passage {
	all := p[passer{node, about}]
	for len(all) > 0 && all[0].At < int64(from) {
		all = all[1:]
	}
	return all
}

// keep adds what was said to the events of a recorded run, without the world: a run is the same
// whether or not it is recorded.
func (r *run) keep(x *env.Exchange) {
	tell := r.about.Messages.Tell
	if !r.options.Events || tell == nil || !x.Served {
		return
	}
	told, about := tell(x)
	if told == nil {
		return
	}
	told.Passed = r.recorded.passages.since(x.To, about, x.Began)
	e := told.Event()
	e.Step, e.At, e.Node = r.world.Steps(), int64(r.world.Now()), string(x.To)
	r.recorded.events = append(r.recorded.events, *e)
}
