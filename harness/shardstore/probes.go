package shardstore

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// prober tries, when everything has come to rest, what must be possible then. Of each collection it
// tries one thing with one range, another one in each run; of sessions it continues all.
type prober struct {
	operatorConnection
	client *client.Client
	trials endstate.Trials
	// repeated counts the statements that were sent again and that may have changed the document of
	// a key once more.
	repeated map[probedKey]int
}

// probedKey is a shard key value of a collection.
type probedKey struct {
	ns  string
	key int64
}

// Probe tries ranges first: the sessions' statements are then answered from records that have moved
// to another shard and back.
func (c *cluster) Probe() (do func(env.Task), tried func() endstate.Trials) {
	p := &prober{repeated: make(map[probedKey]int)}
	do = func(t env.Task) {
		p.operatorConnection = c.operator(t.Node())
		p.client = client.New(p.ep, c.Topology().RouterNodes(), &c.settings)
		p.regular(t)
		for i := range c.scenario.Collections {
			p.probe(t, &c.scenario.Collections[i])
		}
		p.continueSessions(t)
	}
	return do, func() endstate.Trials { return p.trials }
}

// probe tries one of the things that are possible with a collection. A range that moves there and
// back takes longest, so most runs try another.
func (p *prober) probe(t env.Task, c *scenario.Collection) {
	if !p.unsharded(c) {
		p.readSecondaries(t, c)
	}
	what := p.draw(t, "what", c.NS, 8)
	switch {
	case p.unsharded(c) && what < 2 && protocolOf(p.scenario).CoordinatesMovePrimary():
		// In 4.2 it leaves records of statements behind (invariants 20.1).
		p.movePrimaries(t, c.NS)
	case p.unsharded(c):
	case what < 3:
		p.reshape(t, c, what < 2)
	case what < 6:
		p.change(t, c.NS)
	default:
		p.scan(t, c.NS)
		p.readBounds(t, c.NS)
		p.fillChunks(t, c)
	}
}

// probeTries is how often something is tried: a router may have to learn first where data are.
const probeTries = 3

// try does something with a collection until it succeeds, and notes what came of it.
func (p *prober) try(t env.Task, ns, what string, do func() error) (done bool) {
	return p.attempt(t, endstate.Trial{NS: ns, What: what}, do)
}

// tryKey is try with one key.
func (p *prober) tryKey(t env.Task, ns string, k int64, what string, do func() error) (done bool) {
	return p.attempt(t, endstate.Trial{NS: ns, Key: fmt.Sprint(k), What: what}, do)
}

func (p *prober) attempt(t env.Task, made endstate.Trial, do func() error) (done bool) {
	what := made.What
	p.trials.Open = append(p.trials.Open, what)
	for len(p.Outstanding()) > 0 && t.Sleep(pollEvery) == nil {
		// What an earlier probe has left, such as a range to delete, keeps a shard busy.
	}
	err := do()
	for n := 1; err != nil && n < probeTries && t.Sleep(retryEvery) == nil; n++ {
		err = do()
	}
	if err != nil {
		made.Refused = err.Error()
	}
	i := slices.Index(p.trials.Open, what)
	p.trials.Open = slices.Delete(p.trials.Open, i, i+1)
	p.trials.Made = append(p.trials.Made, made)
	return err == nil
}

// ChooseProbe is the kind of choice by which it is drawn what is tried.
const ChooseProbe env.Choice = "harness.probe"

func (p *prober) draw(t env.Task, what, ns string, n int) int {
	return t.Node().Choose(ChooseProbe, what+" "+ns, n)
}

// other is a shard that may take a range from another one and give it back, empty for none.
func (p *prober) other(t env.Task, ns, shard string, of key.Range) string {
	others := slices.DeleteFunc(slices.Clone(p.Topology().ShardNames()), func(s string) bool {
		return s == shard || !p.takes(s, ns, of)
	})
	if len(others) == 0 || !p.takes(shard, ns, of) {
		return ""
	}
	return others[p.draw(t, "shard", ns, len(others))]
}

// takes reports whether a shard takes a range: it must not drain, and 4.2 has operators keep to
// zones as well (protocol 14.1).
func (p *prober) takes(shard, ns string, of key.Range) bool {
	c := p.oracle.Cluster()
	if c == nil {
		return true
	}
	if !c.Has(shard) || c.Draining(shard) {
		return false
	}
	zone := c.Zone(ns, string(of.Min), string(of.Max))
	return protocolOf(p.scenario) != protocol.V42 || of.Empty() || zone == "" ||
		c.InZone(shard, zone)
}

// reshape cuts the range of one key out of its chunk, may move it to another shard and back, and
// makes the chunk whole again.
func (p *prober) reshape(t env.Task, c *scenario.Collection, moves bool) {
	table, err := p.Catalog(c.NS)
	if err != nil {
		return // the survey has found that
	}
	if moves {
		p.hurryDeletion(t)
	}
	k := p.draw(t, "key", c.NS, max(1, c.Keys))
	at, err := table.Collection().Key.Of(documentOf(nameOfKey(*c, int64(k)), ""))
	if err != nil {
		panic("shardstore: a document without a shard key: " + err.Error())
	}
	chunk, one := table.Owner(at), single(at)
	whole := p.oracle.Span(string(chunk.Min), string(chunk.Max)) + " of " + c.NS
	cut := chunk.Min == at || p.try(t, c.NS, fmt.Sprintf("split %s at k=%d", whole, k),
		func() error { return p.routed(t, &command.SplitChunk{NS: c.NS, At: at}) })
	if to := p.other(t, c.NS, chunk.Shard, one); moves && to != "" && !(p.move(t, c, k, one, to) &&
		p.move(t, c, k, one, chunk.Shard)) || !cut {
		return
	}
	now, err := p.Catalog(c.NS)
	if err == nil && now.Owner(at).Range != chunk.Range {
		p.try(t, c.NS, "merge the chunks of "+whole, func() error {
			return p.routed(t, &command.MergeChunks{NS: c.NS, Min: chunk.Min, Max: chunk.Max})
		})
	}
}

// hurryDeletion has what is moved away deleted soon: a range cannot come back before that.
func (p *prober) hurryDeletion(t env.Task) {
	const soon = 20 * time.Millisecond
	if p.settings.OrphanCleanupDelay <= soon {
		return
	}
	for _, name := range p.Topology().ShardNames() {
		p.set(t, p.Members(name), "orphanCleanupDelaySecs", soon.String())
	}
}

// single is the range of one key: bounds of chunks are keys themselves.
func single(at key.Key) key.Range {
	v, err := key.Decode(at)
	n, is := v.AsInt64OK()
	if err != nil || !is || n == math.MaxInt64 {
		return key.Range{Min: at, Max: key.Max}
	}
	return key.Range{Min: at, Max: key.Int(n + 1)}
}

func (p *prober) move(t env.Task, c *scenario.Collection, k int, of key.Range, to string) bool {
	what := fmt.Sprintf("move k=%d of %s to %s", k, c.NS, to)
	tooBig := false
	done := p.tryKey(t, c.NS, int64(k), what, func() error {
		err := p.once(t, &command.MoveRange{
			NS: c.NS, Min: of.Min, Max: of.Max, To: to, WaitDelete: true, Name: "probe",
		})
		// The documents of one shard key may be more than a chunk has room for.
		if tooBig = c.Share > 1 && errcode.Is(err, errcode.ChunkTooBig); tooBig {
			return nil
		}
		return err
	})
	return done && !tooBig
}

// movePrimaries moves a database's unsharded collections to another shard and back.
func (p *prober) movePrimaries(t env.Task, ns string) {
	table, err := p.Catalog(ns)
	if err != nil || len(table.Shards()) == 0 {
		return
	}
	database, home := catalog.DatabaseOf(ns), table.Shards()[0]
	to := p.other(t, ns, home, key.Range{})
	for _, shard := range []string{to, home} {
		if to != "" && !p.try(t, ns, "move the primary of "+database+" to "+shard, func() error {
			return p.movePrimary(t, database, shard)
		}) {
			return
		}
	}
}

// change makes one kind of change to a collection and takes it back.
func (p *prober) change(t env.Task, ns string) {
	const field = "probe"
	answer := func(a client.Answer) error {
		if a.Certainty == client.OK {
			return nil
		}
		return a.Err
	}
	switch p.draw(t, "change", ns, 3) {
	case 0:
		p.try(t, ns, "create an index of "+ns, func() error {
			return answer(p.client.CreateIndex(t, ns, field))
		})
		p.try(t, ns, "drop an index of "+ns, func() error {
			return answer(p.client.DropIndex(t, ns, field))
		})
	case 1:
		for _, on := range []bool{false, true} {
			p.try(t, ns, fmt.Sprintf("have %s balanced: %v", ns, on), func() error {
				return p.once(t, &command.ConfigureCollectionBalancing{NS: ns, Enabled: &on})
			})
		}
	case 2:
		shard := p.staying()
		p.try(t, ns, "add "+shard+" to a zone", func() error {
			return p.once(t, &command.AddShardToZone{Shard: shard, Zone: field})
		})
		p.zoneRanges(t, ns, field)
		p.try(t, ns, "remove "+shard+" from a zone", func() error {
			return p.once(t, &command.RemoveShardFromZone{Shard: shard, Zone: field})
		})
	}
}

// staying is the first shard that does not drain: there always is one.
func (p *prober) staying() string {
	c := p.oracle.Cluster()
	return c.Shards()[slices.IndexFunc(c.Shards(),
		func(name string) bool { return !c.Draining(name) })]
}

// zoneRanges gives a zone two ranges that meet, and takes them back. They are those of a collection
// that is none yet, so that the balancer has nothing to do with them.
func (p *prober) zoneRanges(t env.Task, ns, zone string) {
	ranges := []key.Range{{Min: key.Int(1), Max: key.Int(5)}, {Min: key.Int(5), Max: key.Int(9)}}
	for _, give := range []string{zone, ""} {
		for _, rng := range ranges {
			p.try(t, ns, fmt.Sprintf("have %v in zone %q", rng, give), func() error {
				return p.once(t, &command.UpdateZoneKeyRange{
					NS: catalog.DatabaseOf(ns) + ".probe", Min: rng.Min, Max: rng.Max, Zone: give,
					Field: shardKeyField,
				})
			})
		}
	}
}

// scan opens a cursor and closes it before its end.
func (p *prober) scan(t env.Task, ns string) {
	router := p.Topology().RouterNodes()[0]
	p.try(t, ns, "open a scan of "+ns+" and close it", func() error {
		batch, err := rpc.Call[command.Batch](t, p.ep, router, &command.Find{
			NS: ns, Filter: between(0, 1<<30), BatchSize: 1, Concern: command.MajorityRead,
			Secondary: p.draw(t, "member", ns, 2) > 0,
		}, p.settings.AttemptTimeout)
		if err != nil || batch.Cursor == "" {
			return err
		}
		_, err = rpc.Call[command.Done](t, p.ep, router,
			&command.KillCursors{Cursors: []string{batch.Cursor}}, p.settings.AttemptTimeout)
		return err
	})
}

// forgets reports whether logs are cut so early that records of statements may be gone: a refusal
// to execute is then the answer (protocol 7).
func (p *prober) forgets() bool {
	return p.settings.LogRetention < settings.Default(protocolOf(p.scenario)).LogRetention
}

// continueSessions has every client send its newest statement again, and then a new one.
func (p *prober) continueSessions(t env.Task) {
	left := len(p.sessions)
	for i, s := range p.sessions {
		s.node.Spawn(nil, "probe", func(own env.Task) {
			p.continueSession(own, i, s)
			left--
		})
	}
	for left > 0 && t.Sleep(pollEvery) == nil {
	}
}

// droppedBetween: what the session has just sent again was executed before its collection was
// dropped, and once more in one of the same name, which is a known anomaly; or it found nothing to
// do there.
func (p *prober) droppedBetween(s *session, w *command.Written) bool {
	if w.N == 0 && p.replaced(s) {
		return true
	}
	return slices.ContainsFunc(p.oracle.ExecutedTwice(), func(twice oracle.Twice) bool {
		return twice.Session == s.client.Session() && twice.NS == s.newest.op.NS
	})
}

// replaced reports whether the collection in which the session's newest statement was executed has
// given way to another one of the name, or to none.
func (p *prober) replaced(s *session) bool {
	return s.newest.incarnation != p.oracle.Incarnation(s.newest.op.NS)
}

// repeats counts in, or out, that a session's newest statement may be executed again.
func (p *prober) repeats(s *session, n int) {
	for _, k := range s.newest.keys {
		p.repeated[probedKey{s.newest.op.NS, k}] += n
	}
}

func (p *prober) continueSession(t env.Task, client int, s *session) {
	op := s.newest.op
	if op == nil {
		return
	}
	if s.newest.recorded {
		what := fmt.Sprintf("send the newest statement of client %d again", client)
		again := false
		p.tryKey(t, op.NS, op.Key, what, func() error {
			p.repeats(s, 1)
			a := s.client.Repeat(t)
			if a.Err == nil && a.Written.Retried {
				p.repeats(s, -1)
			}
			again = a.Err == nil && !a.Written.Retried && !p.droppedBetween(s, &a.Written)
			if p.forgets() && errcode.Is(a.Err, errcode.IncompleteTransactionHistory) ||
				p.replaced(s) && errcode.Is(a.Err, errcode.DuplicateKey) {
				return nil // the record is gone, or the next collection has a document of its own
			}
			told := replies.Differing(&a.Written, &s.newest.answered)
			if a.Written.Retried && told != "" {
				return errcode.New(errcode.OperationFailed, "the record of it says %s", told)
			}
			return a.Err
		})
		i := slices.IndexFunc(p.trials.Made, func(m endstate.Trial) bool { return m.What == what })
		p.trials.Made[i].Again = again
	}
	if op.Kind.Whole() {
		return
	}
	what := fmt.Sprintf("execute another statement of client %d", client)
	p.tryKey(t, op.NS, op.Key, what,
		func() error {
			a := s.client.Update(t, command.Update{
				NS: op.NS, Filter: only(s.named(op)), Change: set("probe"),
				Concern: command.Majority,
			})
			// Of keys that share an _id, the final pass of another client deletes the documents; what
			// was written before that pass, anybody may have deleted.
			kept := s.newest.recorded && final(p.scenario, op) && op.Kind.Of().Effect != opkind.Remove &&
				!p.replaced(s) && !s.collections[op.NS].Shared(op.Key) &&
				p.repeated[probedKey{op.NS, op.Key}] == 0
			if a.Err == nil && a.Written.N == 0 && kept {
				return errcode.New(errcode.OperationFailed, "no document with k=%d was found",
					op.Key)
			}
			return a.Err
		})
}
