// Package tails remembers how far routers have read what shards tell change streams.
//
// Promise: a router reads on from where the last answer of the shard has ended; it begins to read a
// shard where a stream begins, or where a change that it was told announces the shard. Whatever
// lies between is delivered to nobody.
//
// Refusal: it does not know which stream of a router a request is for, so that what would be right
// for one of them is right.
package tails

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
)

// Routers are the streams of all routers. The zero value has none.
type Routers struct {
	// begun is the latest time from which a stream has been opened, by router and collection.
	begun map[stream]hlc.Timestamp
	// known are the times up to which a shard has told everything, and those of its announcements.
	known map[tail]map[hlc.Timestamp]bool
}

type stream struct {
	router env.NodeID
	ns     string
}

type tail struct {
	stream
	shard string
}

// Sent says what a router leaves out that reads the changes of a shard; empty for nothing.
func (r *Routers) Sent(x *env.Exchange, shard string, req *command.ReadChanges) string {
	of := stream{x.From, req.NS}
	if req.Open {
		if r.begun == nil {
			r.begun = map[stream]hlc.Timestamp{}
		}
		r.begun[of] = max(r.begun[of], req.After)
		return ""
	}
	if req.After <= r.begun[of] || r.known[tail{of, shard}][req.After] {
		return ""
	}
	return fmt.Sprintf("it asks for what comes after %v, where neither an answer of %s ended nor "+
		"a change announced the shard; the latest stream of the router begins at %v",
		req.After, shard, r.begun[of])
}

// Ended notes what a router has been told.
func (r *Routers) Ended(x *env.Exchange, shard string, asked, said env.Message) {
	req, reads := asked.(*command.ReadChanges)
	got, told := said.(*command.ChangesRead)
	if !reads || !told {
		return
	}
	of := stream{x.From, req.NS}
	r.note(tail{of, shard}, max(req.After, got.Upto))
	for i := range got.Changes {
		if c := &got.Changes[i]; c.Shard != "" {
			r.note(tail{of, c.Shard}, c.Token.TS)
		}
	}
}

func (r *Routers) note(of tail, at hlc.Timestamp) {
	if r.known == nil {
		r.known = map[tail]map[hlc.Timestamp]bool{}
	}
	if r.known[of] == nil {
		r.known[of] = map[hlc.Timestamp]bool{}
	}
	r.known[of][at] = true
}
