package replset

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

const testNS = "config.test"

// cluster is one replica set in a simulated world.
type cluster struct {
	world    *sim.World
	settings settings.Settings
	ids      []env.NodeID
	members  map[env.NodeID]*Member
	watching map[env.NodeID]*shadow
	stepUp   func(env.Task) error
	// onBoot runs in the boot task of every incarnation.
	onBoot func(env.Task, *Member)
	// onEvent sees what a replica set says of itself, as it says it.
	onEvent func(*trace.Event)
	events  []trace.Event
}

func newCluster(n int, opts sim.Options) *cluster {
	c := &cluster{
		settings: settings.Default80(),
		members:  map[env.NodeID]*Member{},
		watching: map[env.NodeID]*shadow{},
	}
	opts.Observer = c
	opts.Classify = func(m env.Message) string { return m.(*Raft).Class() }
	c.world = sim.New(opts)
	for i := range n {
		c.ids = append(c.ids, env.NodeID(fmt.Sprintf("s.%d", i)))
	}
	return c
}

func (c *cluster) start() *cluster {
	for _, id := range c.ids {
		c.world.AddNode(id, c.boot)
	}
	return c
}

func (c *cluster) boot(t env.Task) {
	id := t.Node().ID()
	delete(c.members, id)
	m := Boot(t, Config{
		Name:     "s",
		Self:     id,
		Members:  c.ids,
		Settings: &c.settings,
		Clock:    hlc.New(t.Node()),
	})
	c.members[id] = m
	c.watching[id] = newShadow(m, c.stepUp)
	m.Watch(c.watching[id])
	if c.onBoot != nil {
		c.onBoot(t, m)
	}
}

// Observe keeps what a replica set says of itself.
func (c *cluster) Observe(e *trace.Event) {
	if c.onEvent != nil {
		c.onEvent(e)
	}
	switch e.Kind {
	case trace.Elected, trace.Writable, trace.SteppedDown, trace.Majority, trace.RolledBack:
		c.events = append(c.events, *e)
	}
}

// primary is the writable member of the newest term that is up.
func (c *cluster) primary() *Member {
	var best *Member
	for _, id := range c.ids {
		m := c.members[id]
		if c.world.Up(id) && m != nil && m.IsPrimary() && (best == nil || m.Term() > best.Term()) {
			best = m
		}
	}
	return best
}

func (c *cluster) run(d time.Duration, until func() bool) sim.StopReason {
	return c.world.Run(until, c.world.Now().Add(d))
}

func (c *cluster) elect() *Member {
	c.run(time.Minute, func() bool { return c.primary() != nil })
	return c.primary()
}

// do runs fn in a task of the node until it is done.
func (c *cluster) do(id env.NodeID, fn func(env.Task, *Member)) bool {
	done := false
	c.world.Node(id).Spawn(nil, "test", func(t env.Task) {
		fn(t, c.members[id])
		done = true
	})
	c.run(time.Minute, func() bool { return done })
	return done
}

// put is the operation that sets a document.
func put(id int64, value string) oplog.Op {
	return oplog.Op{
		Kind: oplog.Insert,
		NS:   testNS,
		ID:   string(key.Int(id)),
		Doc:  documentOf(id, value),
	}
}

func documentOf(id int64, value string) bson.Raw {
	b, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "v", Value: value}})
	if err != nil {
		panic(err)
	}
	return b
}

func (c *cluster) write(
	id env.NodeID, wc command.WriteConcern, ops ...oplog.Op,
) (at oplog.Time, err error) {
	c.do(id, func(t env.Task, m *Member) {
		if at, err = m.Write(t, ops...); err == nil {
			err = m.Await(t, at, wc)
		}
	})
	return at, err
}

// shadow is a watcher that keeps its own picture of the log, as every watcher must be able to.
type shadow struct {
	member    *Member
	applied   uint64
	committed uint64
	up        func(env.Task) error
	calls     []string
}

func newShadow(m *Member, up func(env.Task) error) *shadow {
	return &shadow{member: m, applied: m.Applied().Index, committed: m.Committed().Index, up: up}
}

func (s *shadow) Applied(index uint64, _ *oplog.Entry, leading bool) {
	s.check(index == s.applied+1, "applied %d after %d", index, s.applied)
	s.check(leading == s.member.Leading(), "applied with leading %t", leading)
	s.applied = index
}

func (s *shadow) RolledBack(to uint64) {
	s.check(to < s.applied && to >= s.committed, "rolled back to %d from %d, committed %d",
		to, s.applied, s.committed)
	s.applied = to
}

func (s *shadow) Reset(index uint64) {
	s.check(index > s.committed, "reset to %d, committed %d", index, s.committed)
	s.applied, s.committed = index, index
}

func (s *shadow) Committed(index uint64) {
	s.check(index > s.committed && index <= s.applied, "committed %d after %d, applied %d",
		index, s.committed, s.applied)
	s.committed = index
}

func (s *shadow) StepUp(t env.Task) error {
	s.calls = append(s.calls, "up")
	if s.up == nil {
		return nil
	}
	return s.up(t)
}

func (s *shadow) StepDown() { s.calls = append(s.calls, "down") }

func (s *shadow) check(ok bool, format string, args ...any) {
	if !ok {
		s.member.fail(format, args...)
	}
}
