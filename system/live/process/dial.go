package process

import (
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live"
)

// Dial starts a node that serves nobody and knows the cluster of a configuration: a client that
// speaks the protocol of the nodes, for tools and tests. Cluster.NewClient and Cluster.Operator are
// called in its tasks. The ID is used by one process at a time; the folder keeps its incarnation.
func Dial(cfg *Config, id env.NodeID, folder string) (*live.Node, *system.Cluster, error) {
	p := &process{cfg: cfg}
	if _, err := p.assemble(); err != nil {
		return nil, nil, err
	}
	key, err := cfg.Key()
	if err != nil {
		return nil, nil, err
	}
	n, err := live.Start(live.Options{ID: id, Boot: func(env.Task) {}, Codec: codec.BSON,
		Folder: folder, Cluster: cfg.Cluster, Peers: cfg.Nodes, Key: key, Classify: classify})
	return n, p.cluster, err
}
