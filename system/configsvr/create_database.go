package configsvr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/store"
)

// reserved refuses collections of clients where servers keep what is their own.
func reserved(ns string) error {
	if !catalog.IsInternal(ns) {
		return nil
	}
	return errcode.New(errcode.BadValue,
		"%s belongs to the servers: clients have no collections there", ns)
}

// createDatabase is idempotent: a database that exists stays as it is.
func (s *Server) createDatabase(
	t env.Task, _ env.NodeID, req *command.CreateDatabase,
) (*command.DatabaseReply, error) {
	if req.Name == "" || strings.ContainsAny(req.Name, ". /\\\"$\x00") {
		return nil, errcode.New(errcode.BadValue, "%q is no name for a database", req.Name)
	}
	if err := reserved(req.Name); err != nil {
		return nil, err
	}
	reply := &command.DatabaseReply{}
	return reply, s.InTerm(t, "createDatabase "+req.Name, func(own env.Task) error {
		err := s.Locked(own, func() (err error) {
			reply.Database, err = s.foundDatabase(own, req.Name)
			return err
		})
		return s.Settled(own, err)
	})
}

func (s *Server) foundDatabase(t env.Task, name string) (catalog.Database, error) {
	d, err := ReadDatabase(s.member.Store(), name, store.Latest)
	if !errcode.Is(err, errcode.NamespaceNotFound) {
		return d, err
	}
	primary, err := s.leastBurdened()
	if err != nil {
		return d, err
	}
	d = NewDatabase(name, primary, s.ep.Clock().Tick())
	op, err := PutDatabase(d, "create")
	if err != nil {
		return d, err
	}
	_, err = s.member.Write(t, op)
	return d, err
}

// leastBurdened is the shard that may receive and is the primary of the fewest databases.
func (s *Server) leastBurdened() (least string, err error) {
	primaries := make(map[string]int)
	for _, d := range s.Databases() {
		primaries[d.Primary]++
	}
	s.member.Store().Scan(Shards, store.Latest, func(_ string, raw bson.Raw) bool {
		var shard Shard
		if err = bson.Unmarshal(raw, &shard); err != nil {
			return false
		}
		if !shard.Draining && (least == "" || primaries[shard.Name] < primaries[least]) {
			least = shard.Name
		}
		return true
	})
	if err == nil && least == "" {
		err = errcode.New(errcode.ShardNotFound, "no shard can take a database")
	}
	return least, err
}

// readCatalog is served by every member, as getRoutingTable is.
func (s *Server) readCatalog(
	t env.Task, _ env.NodeID, req *command.ReadCatalog,
) (*command.Batch, error) {
	if catalog.DatabaseOf(req.NS) != "config" {
		return nil, errcode.New(errcode.BadValue, "%s is not in the database config", req.NS)
	}
	if err := t.Yield(failpoint.ConfigRoutingTable); err != nil {
		return nil, err
	}
	if err := s.member.AwaitTS(t, req.After); err != nil {
		return nil, err
	}
	batch := &command.Batch{Time: s.member.CommittedTS()}
	at := s.member.ReadAt(command.MajorityRead)
	s.member.Store().Scan(req.NS, at, func(_ string, doc bson.Raw) bool {
		batch.Docs = append(batch.Docs, doc)
		return true
	})
	return batch, nil
}
