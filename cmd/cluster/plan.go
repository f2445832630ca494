package cluster

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/process"
)

// The files of a cluster's folder; nodes have folders of their own below nodesFolder.
const (
	planFile    = "cluster.json"
	keyFile     = "key"
	nodesFolder = "nodes"
	nodeFile    = "node.json"
	logFile     = "log"
)

// loopback is where the processes of a folder listen.
const loopback = "127.0.0.1"

// plan is what a cluster's first start has decided, and every later one repeats.
type plan struct {
	Cluster  string            `json:"cluster"`
	Topology process.Topology  `json:"topology"`
	Settings map[string]string `json:"settings,omitempty"`
	// Plaintext: nodes talk without TLS.
	Plaintext bool `json:"plaintext,omitempty"`
	// Access is for clients.
	Access access `json:"access,omitzero"`
	// Nodes, Admin and Clients are the ports.
	Nodes   map[env.NodeID]int `json:"nodes"`
	Admin   map[env.NodeID]int `json:"admin"`
	Clients map[env.NodeID]int `json:"clients"`

	folder string
	order  []env.NodeID
}

// errNoCluster is a folder without a cluster.
var errNoCluster = errors.New("there is no cluster; `shardproof cluster start` makes one")

// load reads the plan of a folder: errNoCluster when there is none.
func load(folder string) (*plan, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, planFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("folder %s: %w", folder, errNoCluster)
	case err != nil:
		return nil, err
	}
	p := &plan{folder: folder}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", filepath.Join(folder, planFile), err)
	}
	p.order, err = p.Topology.Nodes()
	return p, err
}

// found makes the plan of a new cluster. Ports count from the base on: those of the routers'
// clients, then from base+100 on two for each node; base 0 takes free ones.
func found(folder string, p *plan, base int) error {
	var err error
	if p.folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if p.order, err = p.Topology.Nodes(); err != nil {
		return &failure{exitUsage, err}
	}
	if err := p.assignPorts(base); err != nil {
		return err
	}
	if err := prepareFolder(p.folder); err != nil {
		return err
	}
	secret := make([]byte, 48)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	p.Cluster = fmt.Sprintf("%x", secret[40:])
	key := base64.StdEncoding.EncodeToString(secret[:40]) + "\n"
	if err := os.WriteFile(filepath.Join(p.folder, keyFile), []byte(key), 0o600); err != nil {
		return err
	}
	return writeJSON(filepath.Join(p.folder, planFile), p)
}

// prepareFolder creates the folder of a new cluster, and refuses one that holds other files.
func prepareFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(folder, 0o700)
	case err != nil:
		return err
	case len(entries) > 0:
		return &failure{exitUsage, fmt.Errorf("folder %s holds other files, such as %s, and no "+
			"cluster; give a new or empty folder", folder, entries[0].Name())}
	}
	return nil
}

func (p *plan) assignPorts(base int) error {
	p.Nodes, p.Admin, p.Clients = map[env.NodeID]int{}, map[env.NodeID]int{}, map[env.NodeID]int{}
	clients, own := base, base+100
	var free freePorts
	defer free.release()
	next := func(from *int) (int, error) {
		if base == 0 {
			return free.take()
		}
		*from++
		return *from - 1, nil
	}
	for _, id := range p.order {
		var errs [3]error
		p.Nodes[id], errs[0] = next(&own)
		p.Admin[id], errs[1] = next(&own)
		if isRouter(id) {
			p.Clients[id], errs[2] = next(&clients)
		}
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
	}
	if last := own - 1; base < 0 || base != 0 && last > 1<<16-1 {
		return &failure{exitUsage, fmt.Errorf("--port %d is not possible: this cluster uses ports "+
			"from --port up to %d, and ports are from 1 to 65535", base, last)}
	}
	return nil
}

func isRouter(id env.NodeID) bool { return strings.HasPrefix(string(id), "router.") }

// freePorts finds ports that nobody listens on, and keeps them until all are found.
type freePorts struct{ held []net.Listener }

func (f *freePorts) take() (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	f.held = append(f.held, l)
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (f *freePorts) release() {
	for _, l := range f.held {
		_ = l.Close()
	}
}

func address(port int) string { return fmt.Sprintf("%s:%d", loopback, port) }

// of is the folder of a node.
func (p *plan) of(id env.NodeID) string { return filepath.Join(p.folder, nodesFolder, string(id)) }

// config is the configuration of a node.
func (p *plan) config(id env.NodeID) *process.Config {
	c := &process.Config{Cluster: p.Cluster, Node: id, Folder: p.of(id), Topology: p.Topology,
		Settings: p.Settings, Admin: address(p.Admin[id]), Nodes: map[env.NodeID]string{}}
	for _, other := range p.order {
		c.Nodes[other] = address(p.Nodes[other])
	}
	if isRouter(id) {
		c.Clients = p.clientAddress(id)
		c.UsersFile, c.TLSCert, c.TLSKey = p.Access.Users, p.Access.Cert, p.Access.Key
	}
	if !p.Plaintext {
		c.KeyFile = filepath.Join(p.folder, keyFile)
	}
	return c
}

// clientAddress is where a router listens for clients.
func (p *plan) clientAddress(router env.NodeID) string {
	return net.JoinHostPort(p.Access.host(), fmt.Sprint(p.Clients[router]))
}

// writeConfig writes the configuration of a node and returns its file.
func (p *plan) writeConfig(id env.NodeID) (string, error) {
	if err := os.MkdirAll(p.of(id), 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(p.of(id), nodeFile)
	return file, writeJSON(file, p.config(id))
}

func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
