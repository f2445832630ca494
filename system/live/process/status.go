package process

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// Status is what a process says of itself.
type Status struct {
	Node        env.NodeID `json:"node"`
	Set         string     `json:"set,omitempty"`
	Pid         int        `json:"pid"`
	Incarnation int        `json:"incarnation"`
	Uptime      float64    `json:"uptimeSeconds"`
	// Role is "primary", "secondary", "recovering" or "router"; a primary is one that accepts
	// writes.
	Role    string     `json:"role"`
	Primary env.NodeID `json:"primary,omitempty"`
	Term    uint64     `json:"term,omitempty"`
	// Applied and Majority are the last entry of the log, and the last that a majority has.
	Applied  uint64 `json:"applied,omitempty"`
	Majority uint64 `json:"majority,omitempty"`
	// EventsDropped counts events that the event log had no time for.
	EventsDropped uint64              `json:"eventsDropped,omitempty"`
	Statistics    []command.Statistic `json:"statistics,omitempty"`
	// Catalog is what a member of the config server knows.
	Catalog *Catalog `json:"catalog,omitempty"`
}

// Catalog is the cluster as the catalog has it.
type Catalog struct {
	Shards      []CatalogShard      `json:"shards"`
	Databases   []CatalogDatabase   `json:"databases"`
	Collections []CatalogCollection `json:"collections"`
	// Balancer is the balancer's mode.
	Balancer string `json:"balancer"`
	// Migrations are in progress.
	Migrations int `json:"migrations"`
}

// CatalogShard is a shard.
type CatalogShard struct {
	Name     string   `json:"name" bson:"_id"`
	Host     string   `json:"host" bson:"host"`
	Draining bool     `json:"draining,omitempty" bson:"draining"`
	Zones    []string `json:"zones,omitempty" bson:"tags"`
}

// CatalogDatabase is a database.
type CatalogDatabase struct {
	Name    string `json:"name" bson:"_id"`
	Primary string `json:"primary" bson:"primary"`
}

// CatalogCollection is a sharded collection. Key is in extended JSON.
type CatalogCollection struct {
	NS     string         `json:"ns"`
	Key    string         `json:"key"`
	Chunks map[string]int `json:"chunks"`
}

// statusTimeout is how long a busy node may take to answer.
const statusTimeout = 2 * time.Second

// status asks the node, in a task.
func (p *process) status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	s := &Status{Node: p.cfg.Node, Set: p.cfg.Set(), Pid: os.Getpid(),
		Incarnation: p.node.Incarnation(), Uptime: time.Since(p.began).Seconds()}
	var failed error
	err := p.node.Run(ctx, "status", func(t env.Task) { failed = p.look(t, s) })
	return s, errors.Join(err, failed)
}

// look fills in what the node's memory holds.
func (p *process) look(t env.Task, s *Status) error {
	s.EventsDropped = p.events.Dropped()
	if p.cfg.IsRouter() {
		s.Role = "recovering"
		if p.cluster.Router(p.cfg.Node) != nil {
			s.Role = "router"
		}
		return nil
	}
	m := p.cluster.Member(p.cfg.Node)
	if m == nil {
		s.Role = "recovering"
		return nil
	}
	s.Role, s.Primary, s.Term = "secondary", m.PrimaryHint(), m.Term()
	if m.IsPrimary() {
		s.Role = "primary"
	}
	s.Applied, s.Majority = m.Applied().Index, m.Committed().Index
	if s.Set == configsvr.Name {
		var err error
		s.Catalog, err = p.catalog()
		return err
	}
	ask := &rpc.Envelope{Body: &command.ShardingStatistics{}}
	if answer, err := t.Call(p.cfg.Node, ask, time.Second); err == nil {
		if reply, ok := answer.(*rpc.Envelope).Body.(*command.ShardingStatisticsReply); ok {
			s.Statistics = reply.Values
		}
	}
	return t.Err()
}

// catalog reads the documents of this member of the config server.
func (p *process) catalog() (*Catalog, error) {
	c := &Catalog{Balancer: string(command.BalancerFull)}
	var all []error
	read := func(ns string, each func(doc bson.Raw) error) {
		for _, docs := range p.cluster.ConfigDocuments(ns) {
			for _, doc := range docs {
				all = append(all, each(doc))
			}
		}
	}
	read(configsvr.Shards, decoded(&c.Shards))
	read(configsvr.Databases, decoded(&c.Databases))
	chunks := map[string]map[string]int{}
	read(configsvr.Chunks, func(doc bson.Raw) error {
		of, shard := text(doc, "uuid"), text(doc, "shard")
		if chunks[of] == nil {
			chunks[of] = map[string]int{}
		}
		chunks[of][shard]++
		return nil
	})
	read(configsvr.Collections, func(doc bson.Raw) error {
		c.Collections = append(c.Collections, CatalogCollection{
			NS: text(doc, "_id"), Key: doc.Lookup("key").String(),
			Chunks: chunks[text(doc, "uuid")],
		})
		return nil
	})
	read(configsvr.Settings, func(doc bson.Raw) error {
		if text(doc, "_id") == configsvr.BalancerSetting {
			c.Balancer = cmp.Or(text(doc, "mode"), c.Balancer)
		}
		return nil
	})
	read(configsvr.Migrations, func(bson.Raw) error { c.Migrations++; return nil })
	return c, errors.Join(all...)
}

// decoded adds every document to a list.
func decoded[T any](list *[]T) func(doc bson.Raw) error {
	return func(doc bson.Raw) error {
		var v T
		err := bson.Unmarshal(doc, &v)
		*list = append(*list, v)
		return err
	}
}

func text(doc bson.Raw, field string) string {
	s, _ := doc.Lookup(field).StringValueOK()
	return s
}
