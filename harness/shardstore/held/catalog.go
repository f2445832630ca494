package held

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
)

// AsOf is the config time that a read of the catalog must at least be of, and whether a request is
// one. Any member of the config server answers these.
func AsOf(asked env.Message) (after hlc.Timestamp, reads bool) {
	switch req := asked.(type) {
	case *command.GetRoutingTable:
		return req.After, true
	case *command.GetDatabase:
		return req.After, true
	case *command.FindShard:
		return req.After, true
	case *command.ReadCatalog:
		return req.After, true
	}
	return 0, false
}

// TooOld says why the answer to a read of the catalog may be from before what was asked for;
// committed is the time of the newest entry that the member knows a majority to have.
func TooOld(after, committed hlc.Timestamp) string {
	if committed >= after {
		return ""
	}
	return fmt.Sprintf("it is to be as of config time %v, and the member knows of %v",
		after, committed)
}

// Differs says in what an answer of the config server is not what the member's log has; empty when
// nothing does, or when the answer is of another kind.
func (h *Log) Differs(asked, said env.Message) string {
	switch req := asked.(type) {
	case *command.GetRoutingTable:
		if told, ok := said.(*command.RoutingUpdate); ok {
			return h.differsTable(req, told)
		}
	case *command.GetDatabase:
		told, _ := said.(*command.DatabaseReply)
		d, err := configsvr.ReadDatabase(h.Store, req.Name, h.Committed)
		if told != nil && (err != nil || told.Database != d) {
			return fmt.Sprintf("it says %+v; its log says %+v%s", told.Database, d, reasonOf(err))
		}
	case *command.FindShard:
		told, _ := said.(*command.FoundShard)
		s, err := configsvr.ReadShard(h.Store, req.Name, h.Committed)
		if told != nil && (err != nil || told.Draining != s.Draining) {
			return fmt.Sprintf("it says that the shard drains: %v; its log says: %v%s",
				told.Draining, s.Draining, reasonOf(err))
		}
	}
	return ""
}

func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return ": " + errcode.Reason(err)
}
