package configsvr

import (
	"cmp"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// logChange adds to the changelog. A request that is sent twice is logged twice.
func (s *Server) logChange(
	t env.Task, from env.NodeID, req *command.LogChange,
) (*command.Done, error) {
	err := s.InTerm(t, "logChange "+req.What, func(own env.Task) error {
		s.changes++
		id := fmt.Sprintf("%s/%d/%d", s.node.ID(), s.node.Incarnation(), s.changes)
		var details any = bson.D{}
		if len(req.Details) > 0 {
			details = req.Details
		}
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: id}, {Key: "server", Value: string(from)},
			{Key: "time", Value: bson.DateTime(s.ep.Clock().Now().Cluster.Millis())},
			{Key: "what", Value: req.What}, {Key: "ns", Value: req.NS},
			{Key: "details", Value: details},
		})
		if err != nil {
			return err
		}
		ops := append(s.outdated(len(doc)), putOp(Changelog, id, doc, req.What))
		if _, err := s.member.Write(own, ops...); err != nil {
			return err
		}
		return s.Majority(own)
	})
	return &command.Done{}, err
}

// changelogBytes is how large the changelog gets, in place of a capped collection.
const changelogBytes = 10 << 20

// outdated removes the oldest entries of the changelog if there is no room for one more of a size.
// It looks at all of them, and so makes room for many more.
func (s *Server) outdated(size int) (ops []oplog.Op) {
	_, bytes := s.member.Store().Extent(Changelog)
	if bytes += int64(size); bytes <= changelogBytes {
		return nil
	}
	type entry struct {
		id    string
		time  int64
		bytes int64
	}
	var all []entry
	s.member.Store().Scan(Changelog, store.Latest, func(id string, doc bson.Raw) bool {
		time, _ := doc.Lookup("time").DateTimeOK()
		all = append(all, entry{id, time, int64(len(doc))})
		return true
	})
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	for i := 0; i < len(all) && bytes > changelogBytes/10*9; i++ {
		bytes -= all[i].bytes
		ops = append(ops, oplog.Op{
			Kind: oplog.Delete, NS: Changelog, ID: all[i].id, Actor: uint8(trace.System),
		})
	}
	return ops
}
