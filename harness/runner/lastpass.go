package runner

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// lastPass writes and reads every key and scans everything, when all is at rest.
func (r *run) lastPass() {
	if !r.idle() || r.world.Err() != nil || r.world.Now() >= r.deadline {
		return
	}
	from := len(r.record.ops)
	for i := range r.sessions {
		ops := r.finalOps(i)
		name := fmt.Sprintf("client %d, final pass", i)
		r.busy[name] = true
		r.world.Node(clientNode(i)).Spawn(nil, "final pass", func(t env.Task) {
			r.sessions[i].run(t, ops)
			delete(r.busy, name)
		})
	}
	r.world.Run(r.idle, r.deadline)
	for _, op := range r.record.ops[from:] {
		if op.Kind != scenario.Watch {
			r.final = append(r.final, op)
		}
	}
}

// finalOps are the last operations of one client: every key is some client's.
func (r *run) finalOps(client int) (ops []scenario.Op) {
	clients := len(r.sessions)
	for n, c := range r.scenario.Collections {
		id := (n + 1) * finalIDs
		for k := client; k < c.Keys; k += clients {
			write := scenario.Op{ID: id + 2*k, Client: client, NS: c.NS, Kind: r.finalWrite(c.NS, int64(k)), Key: int64(k), Value: fmt.Sprintf("f%d", n*c.Keys+k)}
			read := scenario.Op{ID: id + 2*k + 1, Client: client, NS: c.NS, Kind: scenario.Read, Key: int64(k)}
			ops = append(ops, write, read)
		}
		if client == 0 {
			ops = append(ops, scenario.Op{ID: id + 2*c.Keys, Client: client, NS: c.NS, Kind: scenario.Scan, To: int64(c.Keys), Batch: max(fewest, c.Keys/8)})
		}
	}
	return ops
}

// finalWrite is how the last pass writes a key: one that was pushed to keeps its list, so that every push is accounted for.
func (r *run) finalWrite(ns string, key int64) scenario.OpKind {
	for i := range r.scenario.Ops {
		if op := &r.scenario.Ops[i]; op.Kind == scenario.Push && op.Key == key && op.NS == ns {
			return scenario.Push
		}
	}
	return scenario.Write
}

// fewest is the least number of documents in a batch of the last scan. Of many keys it has more, lest a cursor times out meanwhile.
const fewest = 7

// finalIDs is where the numbers of final operations start, well above those of drawn ones.
const finalIDs = 1_000_000
