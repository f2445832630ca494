package runner

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// Passage is that a task of a node has passed a failpoint site for an identifier, such as that of a
// migration.
type Passage struct {
	Node, About string
	trace.Passage
}

// passages are those of a run: all of them, and what tasks of a node have passed for an identifier
// lately.
type passages struct {
	all  []Passage
	late map[passer][]trace.Passage
}

type passer struct {
	node  env.NodeID
	about string
}

// mostPassages is how many are kept of one identifier on a node: a request passes fewer.
const mostPassages = 64

// observer takes every passage.
func (p *passages) observer(now func() env.Time) Observer {
	return Observer{Point: func(hit *sim.PointHit) {
		if hit.Note.ID == "" {
			return
		}
		by := passer{hit.Node, hit.Note.ID}
		late := p.late[by]
		if len(late) == mostPassages {
			late = append(late[:0], late[1:]...)
		}
		one := trace.Passage{Site: hit.Site.String(), At: int64(now())}
		p.late[by] = append(late, one)
		p.all = append(p.all, Passage{string(hit.Node), hit.Note.ID, one})
	}}
}

// since are the passages of an identifier on a node from a time on.
func (p *passages) since(node env.NodeID, about string, from env.Time) []trace.Passage {
	all := p.late[passer{node, about}]
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
