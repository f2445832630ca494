// Package preference says which reads that secondaries are to answer are sent to a member that
// their router takes for the primary.
//
// A router that sends a write, or a read for the primary, sends it to the member that it takes for
// the primary. It goes on to do so until it hears of a failure from that member, or its process
// ends; so nobody has to ask it.
//
// Promise: what is told of a read was so at the moment at which it was sent.
//
// Refusal: a router that has sent nothing to a primary since its last failure there may take
// any member for the primary, and is not judged. A set of one member has no secondaries.
package preference

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// Router is a router's process, and a replica set as it sees it.
type Router struct {
	Node        env.NodeID
	Incarnation int
	Set         string
}

// Primaries are the members that routers take for primaries. The zero value knows none.
type Primaries struct{ of map[Router]env.NodeID }

// Sent takes a request that a router is just sending to a member of a set of so many. It says how
// the request ignores what its client prefers; "" when it does not, or nobody can tell.
func (p *Primaries) Sent(by Router, to env.NodeID, members int, req env.Message) string {
	switch m := req.(type) {
	case *command.Insert, *command.Update, *command.Delete, *command.FindAndModify:
	case *command.Find:
		if m.Secondary {
			if members == 1 || p.of[by] != to {
				return ""
			}
			return fmt.Sprintf("it takes %s for the primary of %s, which has %d members", to,
				by.Set, members)
		}
	default:
		return ""
	}
	if p.of == nil {
		p.of = map[Router]env.NodeID{}
	}
	p.of[by] = to
	return ""
}

// Failed takes that a router has heard of a failure of a request to a member. Whether it believes
// now that this is no primary is not known.
func (p *Primaries) Failed(by Router, to env.NodeID) {
	if p.of[by] == to {
		delete(p.of, by)
	}
}
