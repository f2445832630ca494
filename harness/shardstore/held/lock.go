package held

import (
	"fmt"

	"github.com/shardproof/shardproof/system/configsvr"
)

// LacksLock says what a majority lacks of the distributed lock of 4.2 under which the config server
// moves a range of a collection, or changes it as a whole, in a term; empty for nothing. Migrations
// share the lock, and operations have it to themselves (protocol 2.1).
func (h *Log) LacksLock(ns string, term uint64, migrates bool) string {
	doc := h.document(configsvr.Locks, ns)
	if doc == nil {
		return fmt.Sprintf("no majority has a lock of %s", ns)
	}
	session, _ := doc.Lookup("ts").StringValueOK()
	why, _ := doc.Lookup("why").StringValueOK()
	if own := fmt.Sprintf("%s/%d", configsvr.Name, term); session != own {
		return fmt.Sprintf("the lock of %s that a majority has is of %s, and not of %s", ns, session, own)
	}
	if shared := why == "migrate chunks of "+ns; shared != migrates {
		return fmt.Sprintf("the lock of %s that a majority has is to %s", ns, why)
	}
	return ""
}
