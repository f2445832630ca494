// Package leading knows which answers need proof that their server led, and whether it had any.
//
// A primary that has been replaced and does not know it has everything that it had before, and
// nothing that its successor has done. It finds out by asking the others of its set, so an answer
// that has to be right needs an answer of a majority to the primary that was not on its way already
// when the request came: an older one says nothing about the time since.
//
// Promise: what others have sent is heard on the network, and no primary is asked what it knows. An
// answer without proof is told whether or not another primary led at the time.
//
// Refusal: it does not say that proof was sufficient. What others have sent for something else,
// such as the acknowledgement of an entry, counts as well.
package leading

import (
	"slices"
	"strings"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/replset"
)

// Record is when members of replica sets last answered who led them.
type Record struct {
	backed map[backer]env.Time
	// asked is when a member was first asked for something that it then works on.
	asked map[work]env.Time
}

// backer is a member in a term, and the number in its set of the one that led.
type backer struct {
	member       env.NodeID
	term, leader uint64
}

// work is a commit of what a recipient has received, or a move of a database, of one member. A
// repetition of the request joins it.
type work struct {
	member env.NodeID
	what   string
}

// workOf is the work that a request begins or joins; nothing for most.
func workOf(member env.NodeID, asked env.Message) work {
	switch req := asked.(type) {
	case *command.RecvChunkCommit:
		return work{member, req.Session}
	case *command.ShardsvrMovePrimary:
		return work{member, req.Database + " to " + req.To}
	}
	return work{}
}

// New returns the record of a cluster that has not sent anything.
func New() *Record {
	return &Record{map[backer]env.Time{}, map[work]env.Time{}}
}

// Sent notes a message of a member.
func (r *Record) Sent(member env.NodeID, m *replset.Raft, now env.Time) {
	if m.AnswersLeader() {
		r.backed[backer{member, m.Term, m.To}] = now
	}
}

// Arrived notes a request.
func (r *Record) Arrived(x *env.Exchange, asked env.Message, now env.Time) {
	if w := workOf(x.To, asked); w.what != "" && r.asked[w] == 0 {
		r.asked[w] = now
	}
}

// Lacks reports whether fewer members than make a majority with the leader have answered it since
// the request arrived; of one that joins work, since the first for that. It may have had its proof
// in an earlier term than this one, and have been deposed and elected again since: the answer is of
// the time of the proof.
func (r *Record) Lacks(x *env.Exchange, asked env.Message, term uint64, set []env.NodeID) bool {
	since := x.Began
	if w := workOf(x.To, asked); w.what != "" {
		since = r.asked[w]
	}
	for ; term > 0; term-- {
		if r.backs(x.To, term, since, set) {
			return false
		}
	}
	return true
}

// backs reports whether a majority of the set, the leader among it, has answered it in a term since
// a time.
func (r *Record) backs(leader env.NodeID, term uint64, since env.Time, set []env.NodeID) bool {
	backed, number := 1, uint64(slices.Index(set, leader)+1)
	for _, id := range set {
		at, answered := r.backed[backer{id, term, number}]
		if id != leader && answered && at > since {
			backed++
		}
	}
	return backed > len(set)/2
}

// ByUsers reports whether a user's request is answered by those only who have proved that they led
// at some moment of it.
func ByUsers(asked env.Message) bool {
	switch req := asked.(type) {
	case *command.Find:
		return req.Concern == command.Linearizable
	case *command.Insert:
		return req.Concern.Majority
	case *command.Update:
		return req.Concern.Majority
	case *command.Delete:
		return req.Concern.Majority
	case *command.FindAndModify:
		return req.Concern.Majority
	}
	return false
}

// ByServers reports whether a request of another server is such a one, although its answer rests on
// more than the log. In 4.2, which has no sessions that a donor's successor ends, a recipient that
// begins asks its donor for the collection's options, and so whether it still leads; and what a
// recipient has received is known to its primary alone, where 8.0 has a record of it. A shard that
// is to move a database to itself does nothing; and a donor may answer by the migration that it has
// joined, which was proved when it was committed.
func ByServers(to env.NodeID, asked env.Message, coordinates bool) bool {
	switch req := asked.(type) {
	case *command.CreateUnsharded, *command.DropUnsharded, *command.IndexUnsharded,
		*command.RenameUnsharded:
		return true
	case *command.ShardsvrMovePrimary:
		return !strings.HasPrefix(string(to), req.To+".")
	case *command.CollectionOptions, *command.RecvChunkCommit:
		return !coordinates
	}
	return false
}
