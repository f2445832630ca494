package held

import (
	"fmt"

	"github.com/shardproof/shardproof/system/configsvr"
)

// LacksLock says what a majority lacks of the distributed lock of 4.2 under which the config server
// moves a range of a collection, or changes the whole collection, in a term. It is empty if nothing
// is missing. Migrations share the lock; an operation holds it exclusively (protocol 2.1).
func (h *Log) LacksLock(ns string, term uint64, migrates bool) string {
	doc := h.document(configsvr.Locks, ns)
	if doc == nil {
		return fmt.Sprintf("no majority has a lock on %s", ns)
	}
	session, _ := doc.Lookup("ts").StringValueOK()
	why, _ := doc.Lookup("why").StringValueOK()
	if own := fmt.Sprintf("%s/%d", configsvr.Name, term); session != own {
		return fmt.Sprintf("the lock on %s that a majority has belongs to %s, not to %s",
			ns, session, own)
	}
	if shared := why == "migrate chunks of "+ns; shared != migrates {
		return fmt.Sprintf("the lock on %s that a majority has was taken to %s", ns, why)
	}
	return ""
}
