package live_test

import (
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/env/envtest"
	"github.com/shardproof/shardproof/system/live"
)

// machines are live nodes of one process, on loopback.
type machines struct {
	t     *testing.T
	key   []byte
	peers map[env.NodeID]string
	boots map[env.NodeID]env.Boot
	dir   string

	mu   sync.Mutex
	up   map[env.NodeID]*live.Node
	said []string
}

func newMachines(t *testing.T, key []byte, ids ...env.NodeID) *machines {
	m := &machines{t: t, key: key, dir: t.TempDir(), peers: map[env.NodeID]string{},
		boots: map[env.NodeID]env.Boot{}, up: map[env.NodeID]*live.Node{}}
	for _, id := range ids {
		l := listen(t, "127.0.0.1:0")
		m.peers[id] = l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for id := range m.up {
			m.Crash(id)
		}
	})
	return m
}

// listen listens, if need be a moment later: while a node is down, an outgoing connection of
// somebody else may have got its port.
func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		l, err := net.Listen("tcp", address)
		if err == nil {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (m *machines) AddNode(id env.NodeID, boot env.Boot) {
	m.boots[id] = boot
	m.Restart(id)
}

func (m *machines) Restart(id env.NodeID) {
	n, err := live.Start(live.Options{
		ID: id, Boot: m.boots[id], Codec: envtest.Codec, Folder: filepath.Join(m.dir, string(id)),
		Cluster: m.t.Name(), Peers: m.peers, Listener: listen(m.t, m.peers[id]), Key: m.key,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.up[id] = n
}

func (m *machines) Crash(id env.NodeID) { m.up[id].Stop() }

func (m *machines) Say(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said = append(m.said, line)
}

func (m *machines) Said() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.said)
}

func (m *machines) Wait(until func() bool) bool {
	for deadline := time.Now().Add(10 * time.Second); !until(); {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}

func (m *machines) Broken() error {
	for _, n := range m.up {
		if err := n.Err(); err != nil {
			return err
		}
	}
	return nil
}

// TestConformance: the live world keeps the promises of env, as the simulated one does.
func TestConformance(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "keyed": testKey} {
		t.Run(name, func(t *testing.T) {
			envtest.Run(t, func(t *testing.T) envtest.World {
				return newMachines(t, key, "a", "b")
			})
		})
	}
}

var testKey = []byte("thirty-two bytes are the least!!")
