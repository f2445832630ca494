package runner

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// clientPool has the scenario's clients carry out their operations, each from a node of its own.
type clientPool struct {
	*stage
	sessions []*session
}

// session carries out operations one after the other for one client.
type session struct {
	*stage
	client target.Client
}

// start begins the history with what is there already, and starts every client.
func (p *clientPool) start() {
	var there func(ns string) map[int64]uint64
	if c, ok := p.system.(target.Clock); ok {
		there = c.Loaded
	}
	preload := histories.Preload(p.scenario, there)
	p.history.counter = 2 * uint64(len(preload))
	p.history.ops = append(make([]histories.Op, 0, p.operations(len(preload))), preload...)
	perClient := make([][]scenario.Op, p.scenario.Topology.Clients)
	counts := make([]int, len(perClient))
	for i := range p.scenario.Ops {
		counts[p.scenario.Ops[i].Client]++
	}
	for i := range p.scenario.Ops {
		op := &p.scenario.Ops[i]
		if perClient[op.Client] == nil {
			perClient[op.Client] = make([]scenario.Op, 0, counts[op.Client])
		}
		perClient[op.Client] = append(perClient[op.Client], *op)
	}
	p.sessions = make([]*session, len(perClient))
	for i, ops := range perClient {
		p.startClient(i, ops)
	}
}

// goOn reports whether clients have operations left, and none waits long for an answer.
func (p *clientPool) goOn() bool {
	var longest env.Time
	for i := range p.history.ops {
		if op := &p.history.ops[i]; op.Return == 0 && op.Kind != scenario.Watch {
			longest = max(longest, p.world.Now()-env.Time(op.CallAt))
		}
	}
	left := slices.ContainsFunc(p.tasks.names(), func(name string) bool {
		return strings.HasPrefix(name, clientTask)
	})
	return left && longest < env.Time(answerTime(p.scenario))
}

// clientTask begins the names of clients' tasks.
const clientTask = "client "

// operations is about how many operations the history will have. Probes and streams add some to
// those that are known, and a history that grows is copied as a whole.
func (p *clientPool) operations(preloaded int) int {
	n := preloaded + len(p.scenario.Ops)
	for _, c := range p.scenario.Collections {
		n += 2*c.Keys + 1
	}
	return n + n/8
}

func (p *clientPool) startClient(i int, ops []scenario.Op) {
	name := fmt.Sprintf("%s%d", clientTask, i)
	p.tasks.begin(name)
	p.world.AddNode(clientNode(i), func(t env.Task) {
		p.sessions[i] = &session{p.stage, p.system.NewClient(t.Node())}
		p.sessions[i].run(t, ops)
		p.tasks.end(name)
	})
}

// run carries out the operations of one client at their times.
func (s *session) run(t env.Task, ops []scenario.Op) {
	sort.SliceStable(ops, func(i, j int) bool { return ops[i].At < ops[j].At })
	for len(ops) > 0 {
		if wait := s.base.Add(ops[0].At).Sub(s.world.Now()); wait > 0 && t.Sleep(wait) != nil {
			return
		}
		many, can := s.client.(target.BulkInserter)
		n := together(ops)
		if can && n > 1 {
			s.insertMany(t, many, ops[:n])
		} else {
			n = 1
			s.do(t, &ops[0])
		}
		ops = ops[n:]
	}
}

// together is how many of the operations go into one command, from the first on.
func together(ops []scenario.Op) int {
	n := 1
	for n < len(ops) && ops[n].Together && ops[0].Kind == scenario.Insert && ops[n].NS == ops[0].NS {
		n++
	}
	return n
}

// insertMany carries out several inserts at once: in the history they overlap.
func (s *session) insertMany(t env.Task, client target.BulkInserter, ops []scenario.Op) {
	first := 0
	for i := range ops {
		at := s.history.begin(&ops[i])
		if i == 0 {
			first = at
		}
	}
	for i, answer := range client.InsertMany(t, ops) {
		s.history.end(first+i, answer)
	}
}

// do carries out one operation and records what the client learned.
func (s *session) do(t env.Task, op *scenario.Op) {
	i := s.history.begin(op)
	s.history.end(i, s.client.Do(t, op, s.history.tick))
}

// finalPass has the clients write and read every key and scan everything, when the system is
// quiescent. It returns these operations, none if there was no time.
func (p *clientPool) finalPass() (final []histories.Op) {
	if !p.idle() || p.world.Err() != nil || p.world.Now() >= p.deadline {
		return nil
	}
	if system, can := p.system.(target.Patient); can {
		system.BePatient()
	}
	from := len(p.history.ops)
	pushed := p.pushed()
	for i := range p.sessions {
		ops := p.finalOps(i, pushed)
		name := fmt.Sprintf("client %d, last pass", i)
		p.tasks.begin(name)
		p.world.Node(clientNode(i)).Spawn(nil, "last pass", func(t env.Task) {
			p.sessions[i].run(t, ops)
			p.tasks.end(name)
		})
	}
	p.world.Run(p.idle, p.deadline)
	final = make([]histories.Op, 0, len(p.history.ops)-from)
	for i := range p.history.ops[from:] {
		if op := &p.history.ops[from+i]; op.Kind != scenario.Watch {
			final = append(final, *op)
		}
	}
	return final
}

// finalOps are the final operations of one client: every key is some client's.
func (p *clientPool) finalOps(client int, pushed map[place]bool) (ops []scenario.Op) {
	clients, scans := len(p.sessions), slices.Contains(p.about.Ops, scenario.Scan)
	share := 0
	for _, c := range p.scenario.Collections {
		share += 2*(c.Keys/clients+1) + 1
	}
	ops = make([]scenario.Op, 0, share)
	for n, c := range p.scenario.Collections {
		id := (n + 1) * finalIDs
		for k := client; k < c.Keys; k += clients {
			op := scenario.Op{ID: id + 2*k, Client: client, NS: c.NS, Key: int64(k)}
			write, read := op, op
			write.Kind, write.Value = scenario.Write, fmt.Sprintf("f%d", n*c.Keys+k)
			switch {
			case c.Shared(write.Key): // another document of the _id may be in the way of a new one
				write.Kind, write.Value = scenario.Delete, ""
			case pushed[place{c.NS, write.Key}]:
				write.Kind = scenario.Push
			}
			read.ID, read.Kind = id+2*k+1, scenario.Read
			ops = append(ops, write, read)
		}
		if client == 0 && scans {
			batch := max(fewest, c.Keys/8)
			ops = append(ops, scenario.Op{
				ID:     id + 2*c.Keys,
				Client: client,
				NS:     c.NS,
				Kind:   scenario.Scan,
				To:     int64(c.Keys),
				Batch:  batch,
			})
		}
	}
	return ops
}

// place is where a document is.
type place struct {
	ns  string
	key int64
}

// pushed are the keys that were pushed to: the final pass lets them keep their lists, so that every
// push is accounted for.
func (p *clientPool) pushed() map[place]bool {
	keys := map[place]bool{}
	for i := range p.scenario.Ops {
		if op := &p.scenario.Ops[i]; op.Kind == scenario.Push {
			keys[place{op.NS, op.Key}] = true
		}
	}
	return keys
}

// fewest is the least number of documents in a batch of the final scan. Of many keys it has more,
// or a cursor could time out meanwhile.
const fewest = 7

// finalIDs is where the numbers of final operations start, well above those of drawn ones.
const finalIDs = 1_000_000
