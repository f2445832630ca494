package configsvr

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
)

// getRoutingTable is served by every member: it waits until the member knows the state asked for to
// be committed, and reads collection and chunks at one committed index.
func (s *Server) getRoutingTable(
	t env.Task, _ env.NodeID, req *command.GetRoutingTable,
) (*command.RoutingUpdate, error) {
	if err := t.Yield(failpoint.ConfigRoutingTable); err != nil {
		return nil, err
	}
	if err := s.reaches(t, req.After, req.Newest); err != nil {
		return nil, err
	}
	table, err := s.catalog.table(req.NS, s.member.ReadAt(command.MajorityRead))
	if err != nil {
		return nil, err
	}
	update := &command.RoutingUpdate{Collection: table.Collection(), At: s.member.CommittedTS()}
	if !req.Since.IsZero() && req.Since.SameIncarnation(table.Version()) {
		update.Chunks = table.Since(req.Since)
		return update, nil
	}
	update.Full = true
	update.Chunks = slices.Collect(table.Chunks())
	return update, nil
}

// reaches waits until what this member reads with majority read concern holds everything up to a
// time, or, as the primary, everything that was acknowledged to anybody before.
func (s *Server) reaches(t env.Task, after hlc.Timestamp, newest bool) error {
	if !newest {
		return s.member.AwaitTS(t, after)
	}
	lead, err := s.member.Lead()
	if err != nil {
		return err
	}
	return lead.AwaitMajority(t)
}
