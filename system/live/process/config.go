package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/settings"
)

// Config is what a process is started with: a JSON file. Paths are relative to the folder in which
// the process starts.
type Config struct {
	// Cluster names the cluster; processes of another are not talked to.
	Cluster string `json:"cluster"`
	// Node is which node of the topology this process is, such as "shard-a.0".
	Node env.NodeID `json:"node"`
	// Folder keeps everything of the node.
	Folder string `json:"folder"`
	// Nodes are the addresses on which the nodes of the cluster listen for each other.
	Nodes map[env.NodeID]string `json:"nodes"`
	// Admin is the address of metrics, status and failpoints, on loopback; empty: there are none.
	Admin string `json:"admin,omitempty"`
	// Clients is a router's address for clients; empty: it serves none.
	Clients string `json:"clients,omitempty"`
	// KeyFile holds the secret that all nodes share, at least 32 bytes. Needed off loopback.
	KeyFile string `json:"keyFile,omitempty"`
	// UsersFile and the TLS files are for those who serve clients.
	UsersFile string `json:"usersFile,omitempty"`
	TLSCert   string `json:"tlsCert,omitempty"`
	TLSKey    string `json:"tlsKey,omitempty"`
	// ClockOffset sets the process's wall clock wrong on purpose: a duration such as "-90s" that is
	// added to the machine's time. For tests of clusters; empty: none.
	ClockOffset string `json:"clockOffset,omitempty"`
	// Topology is the cluster's, the same in every process and at every start.
	Topology Topology `json:"topology"`
	// Settings are those that differ from the defaults of live clusters, by name.
	Settings map[string]string `json:"settings,omitempty"`
}

// Topology is the size of a cluster and what it speaks.
type Topology struct {
	Shards        int    `json:"shards"`
	Members       int    `json:"members"`
	ConfigMembers int    `json:"configMembers"`
	Routers       int    `json:"routers"`
	Protocol      string `json:"protocol"`
	Balancer      bool   `json:"balancer"`
}

// System is the topology as the store has it.
func (p Topology) System() (system.Topology, error) {
	profile, err := protocol.Parse(p.Protocol)
	top := system.Topology{Shards: p.Shards, Members: p.Members, ConfigMembers: p.ConfigMembers,
		Routers: p.Routers, Profile: profile, BalancerOff: !p.Balancer}
	return top, errors.Join(err, top.Validate())
}

// Load reads a configuration and checks it.
func Load(file string) (*Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the configuration of a node cannot be read: %w", err)
	}
	c := &Config{}
	lines := json.NewDecoder(bytes.NewReader(text))
	lines.DisallowUnknownFields()
	if err := lines.Decode(c); err != nil {
		return nil, fmt.Errorf("%s is not the configuration of a node: %w", file, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// Validate returns a sentence about the first thing that is wrong, or nil.
func (c *Config) Validate() error {
	top, err := c.Topology.System()
	if err != nil {
		return err
	}
	if _, err := c.settings(top); err != nil {
		return err
	}
	if _, err := c.clockOffset(); err != nil {
		return err
	}
	all := nodesOf(top)
	switch {
	case c.Cluster == "":
		return errors.New(`"cluster" is empty; give the cluster a name`)
	case c.Folder == "":
		return errors.New(`"folder" is empty; name the folder that keeps what the node stores`)
	case !slices.Contains(all, c.Node):
		return fmt.Errorf(`"node" is %q, which is not in this topology; its nodes are %v`, c.Node,
			all)
	case c.Clients != "" && !c.IsRouter():
		return fmt.Errorf(`"clients" is set, but %s is not a router`, c.Node)
	}
	for _, id := range all {
		if c.Nodes[id] == "" {
			return fmt.Errorf(`"nodes" has no address for %s`, id)
		}
	}
	return nil
}

func (c *Config) clockOffset() (time.Duration, error) {
	if c.ClockOffset == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(c.ClockOffset)
	if err != nil {
		return 0, fmt.Errorf(`"clockOffset" is %q, which is no duration such as "-90s"`,
			c.ClockOffset)
	}
	return d, nil
}

// IsRouter reports whether the process is a router.
func (c *Config) IsRouter() bool { return strings.HasPrefix(string(c.Node), "router.") }

// Set is the replica set that the node is a member of; empty for a router.
func (c *Config) Set() string {
	if c.IsRouter() {
		return ""
	}
	set, _, _ := strings.Cut(string(c.Node), ".")
	return set
}

// Key reads the shared secret; nil when there is none.
func (c *Config) Key() ([]byte, error) {
	if c.KeyFile == "" {
		return nil, nil
	}
	info, err := os.Stat(c.KeyFile)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil,
			fmt.Errorf("the key file %s is readable by others; `chmod 600 %s` keeps it secret",
				c.KeyFile, c.KeyFile)
	}
	key, err := os.ReadFile(c.KeyFile)
	return bytes.TrimSpace(key), err
}

// settings are the defaults of live clusters and what the configuration changes.
func (c *Config) settings(top system.Topology) (*settings.Settings, error) {
	s := Settings(top.Profile)
	for name, value := range c.Settings {
		if err := s.Set(name, value); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Settings are the defaults of live clusters: slower to suspect a primary than a simulation, and
// with more history, since a snapshot writes everything that a node stores.
func Settings(p protocol.Profile) *settings.Settings {
	s := settings.Default(p)
	s.ElectionTimeout = 2 * time.Second
	s.HeartbeatInterval = 200 * time.Millisecond
	s.LogRetention = 20_000
	s.CatchUpTimeout = 5 * time.Second
	s.CommandTimeout = 30 * time.Second
	return &s
}

// nodesOf lists the nodes of a cluster: members of the config server, of the shards, routers.
func nodesOf(top system.Topology) []env.NodeID {
	all := top.MembersOf(configsvr.Name)
	for _, shard := range top.ShardNames() {
		all = append(all, top.MembersOf(shard)...)
	}
	return append(all, top.RouterNodes()...)
}

// Nodes lists the nodes of a cluster: members of the config server, of the shards, routers.
func (p Topology) Nodes() ([]env.NodeID, error) {
	top, err := p.System()
	if err != nil {
		return nil, err
	}
	return nodesOf(top), nil
}
