package merges

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// member is a log of one term.
type member struct {
	store   *store.Store
	entries []*oplog.Entry
	deposed bool
}

func (m *member) Store() *store.Store { return m.store }
func (m *member) Applied() oplog.Time { return oplog.Time{Index: uint64(len(m.entries))} }
func (m *member) Term() uint64        { return 1 }
func (m *member) Leading() bool       { return !m.deposed }

func (m *member) Entry(index uint64) (e *oplog.Entry, term uint64, ok bool) {
	if index == 0 || index > uint64(len(m.entries)) {
		return nil, 0, false
	}
	return m.entries[index-1], 1, true
}

// write appends an entry with one document.
func (m *member) write(t *testing.T, ns, id string, doc bson.D) {
	t.Helper()
	e := &oplog.Entry{Ops: []oplog.Op{{Kind: oplog.Noop}}}
	if ns != "" {
		raw, err := bson.Marshal(append(bson.D{{Key: "_id", Value: id}}, doc...))
		if err != nil {
			t.Fatal(err)
		}
		e.Ops = []oplog.Op{{Kind: oplog.Update, NS: ns, ID: string(key.String(id)), Doc: raw}}
	}
	m.entries = append(m.entries, e)
	if err := m.store.Apply(uint64(len(m.entries)), e.Ops); err != nil {
		t.Fatal(err)
	}
}

// What was chosen is judged if nothing has changed since the pass began, what was sent by the newest
// entry, unless the sender had to look for the primary and something was set meanwhile.
func TestSent(t *testing.T) {
	const ns = "test.docs"
	off := bson.D{{Key: "enableAutoMerge", Value: false}}
	on := bson.D{{Key: "enableAutoMerge", Value: true}}
	unmerged := bson.D{{Key: "enabled", Value: false}}
	stopped := bson.D{{Key: "mode", Value: "off"}}
	closed := bson.D{{Key: "activeWindow", Value: bson.D{
		{Key: "start", Value: "3:00"}, {Key: "stop", Value: "3:01"},
	}}}
	for name, c := range map[string]struct {
		do    func(t *testing.T, m *member, look, tick func())
		found int
	}{
		"allowed": {func(_ *testing.T, _ *member, _, tick func()) { tick() }, 0},
		"off": {func(t *testing.T, m *member, _, tick func()) {
			m.write(t, configsvr.Collections, ns, off)
			tick()
			m.write(t, configsvr.Collections, "test.more", on)
		}, 1},
		"off before, perhaps": {func(t *testing.T, m *member, _, tick func()) {
			m.write(t, configsvr.Collections, ns, off)
			tick()
			m.write(t, configsvr.Collections, ns, on)
		}, 0},
		"off since": {func(t *testing.T, m *member, _, tick func()) {
			tick()
			m.write(t, configsvr.Collections, ns, off)
		}, 0},
		"the cluster": {func(t *testing.T, m *member, _, tick func()) {
			tick()
			m.write(t, configsvr.Settings, "automerge", unmerged)
		}, 1},
		"the cluster while it looked": {func(t *testing.T, m *member, look, tick func()) {
			tick()
			look()
			m.write(t, configsvr.Settings, "automerge", unmerged)
		}, 0},
		"the cluster between two looks": {func(t *testing.T, m *member, look, tick func()) {
			tick()
			look()
			m.write(t, configsvr.Settings, "automerge", unmerged)
			look()
		}, 0},
		"the cluster before it looked": {func(t *testing.T, m *member, look, tick func()) {
			m.write(t, configsvr.Settings, "automerge", unmerged)
			tick()
			look()
		}, 1},
		"stopped": {func(t *testing.T, m *member, _, tick func()) {
			tick()
			m.write(t, configsvr.Settings, configsvr.BalancerSetting, stopped)
		}, 1},
		"outside the window": {func(t *testing.T, m *member, _, tick func()) {
			m.write(t, configsvr.Settings, configsvr.BalancerSetting, closed)
			tick()
		}, 1},
		"perhaps within it": {func(t *testing.T, m *member, look, tick func()) {
			m.write(t, configsvr.Settings, configsvr.BalancerSetting, closed)
			tick()
			look()
		}, 0},
		"deposed": {func(t *testing.T, m *member, _, tick func()) {
			m.write(t, configsvr.Settings, configsvr.BalancerSetting, stopped)
			tick()
			m.deposed = true
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, w, wrote := &member{store: store.New()}, New(), uint64(0)
			m.write(t, configsvr.Collections, ns, nil)
			send := func(body env.Message) {
				w.Sent(&env.Exchange{
					From: "config.0", To: "shard-a.0", Wrote: wrote,
					Request: &rpc.Envelope{Body: body},
				}, "shard-a", m, -20*time.Hour)
			}
			c.do(t, m, func() { send(&command.Hello{}) }, func() {
				m.write(t, "", "", nil)
				wrote = m.Applied().Index
			})
			send(&command.ShardsvrMergeAllChunks{NS: ns})
			if v := w.Judge.Verdict(); v.Found != c.found || v.Checked != 1 {
				t.Errorf("%d of %d: %+v", v.Found, v.Checked, v.Violations)
			}
		})
	}
}

// Merges are allowed as long as nobody says otherwise.
func TestAllowed(t *testing.T) {
	m := &member{store: store.New()}
	for i, doc := range []bson.D{nil, {{Key: "enabled", Value: true}}, {{Key: "enabled", Value: false}}} {
		if doc != nil {
			m.write(t, configsvr.Settings, "automerge", doc)
		}
		if got := Allowed(m.store); got != (i < 2) {
			t.Errorf("with %v: %v", doc, got)
		}
	}
}
