// Package autosplit is the chunk splitter of 4.2 on the primary of a shard (protocol 13.2): it
// counts what users write to each chunk, and from time to time looks whether a chunk has become too
// big and has it split. Of the first and the last chunk of a collection it then asks the balancer
// to take the outermost part away, where keys that grow go next (top-chunk optimisation).
//
// Promise: no write waits for it. A chunk is looked at by one task at a time. What is counted ends
// with the term, and with the state of the chunk: once it was split, moved or given another
// version, counting begins again.
//
// Refusal: it does not decide what may be split and moved: the config server says before each split
// what operators have set, checks the commit, and chooses where a chunk goes. What migrations copy
// does not count, for it was written elsewhere.
package autosplit

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/shard"
)

// testFactor is how often a chunk is looked at while as much is written to it as makes a chunk.
const testFactor = 5

// Splitter is one incarnation of a shard's member.
type Splitter struct {
	shard  *shard.Server
	member *replset.Member
	counts map[chunkStart]*writeCount
	// chunkBytes are what the config server has said last of each collection.
	chunkBytes map[string]int64
	looking    []string // what is looked at now, for audits
}

// chunkStart is where a chunk begins.
type chunkStart struct {
	ns  string
	min key.Key
}

// writeCount is what was written to one state of a chunk since it was last looked at.
type writeCount struct {
	version catalog.Version
	bytes   int64
	looking bool
}

// New has chunks of the shard split while the member is primary.
func New(sh *shard.Server) *Splitter {
	s := &Splitter{
		shard: sh, member: sh.Member(), counts: make(map[chunkStart]*writeCount),
		chunkBytes: make(map[string]int64),
	}
	s.member.Watch(logWatcher{s})
	sh.AddAudit(func(a *command.AuditReply) {
		a.OutstandingTasks = append(a.OutstandingTasks, s.looking...)
	})
	return s
}

// logWatcher follows the member's log.
type logWatcher struct{ *Splitter }

// Applied counts what users write here.
func (s logWatcher) Applied(_ uint64, e *oplog.Entry, leading bool) {
	for i := range e.Ops {
		op := &e.Ops[i]
		if leading && op.Doc != nil && op.Actor == uint8(trace.User) && !op.FromMigrate {
			s.written(op)
		}
	}
}

// StepDown forgets what was counted.
func (s logWatcher) StepDown() {
	clear(s.counts)
	clear(s.chunkBytes)
}

// StepUp has nothing to prepare.
func (logWatcher) StepUp(env.Task) error { return nil }

// RolledBack does not matter: what is counted only says when to look.
func (logWatcher) RolledBack(uint64) {}

// Reset does not matter, for the same reason.
func (logWatcher) Reset(uint64) {}

// Committed does not matter either.
func (logWatcher) Committed(uint64) {}

// written counts a document for the chunk that it is in.
func (s *Splitter) written(op *oplog.Op) {
	md := s.shard.Collection(op.NS).Metadata()
	if md == nil || md.Table.Collection().Unsharded ||
		op.Kind != oplog.Insert && op.Kind != oplog.Update {
		return
	}
	k, err := md.Table.Collection().Key.Of(op.Doc)
	if err != nil {
		return
	}
	if chunk := md.Table.Owner(k); chunk.Shard == s.shard.Name() {
		s.count(op.NS, chunk, int64(len(op.Doc)))
	}
}

func (s *Splitter) count(ns string, chunk catalog.Chunk, bytes int64) {
	at := chunkStart{ns, chunk.Min}
	n := s.counts[at]
	if n == nil || n.version != chunk.Version {
		n = &writeCount{version: chunk.Version}
		s.counts[at] = n
	}
	n.bytes += bytes
	if n.bytes*testFactor >= s.size(ns) && !n.looking {
		s.launch(ns, chunk, n)
	}
}

// size is that of a chunk of the collection, as far as it is known here.
func (s *Splitter) size(ns string) int64 {
	if said := s.chunkBytes[ns]; said > 0 {
		return said
	}
	return int64(s.shard.Settings().MaxChunkBytes)
}

// launch looks at the chunk in a task of its own. One that fails is followed by another when enough
// was written again.
func (s *Splitter) launch(ns string, chunk catalog.Chunk, n *writeCount) {
	n.bytes, n.looking = 0, true
	what := fmt.Sprintf("autosplit of %v of %s", chunk, ns)
	s.looking = append(s.looking, what)
	s.shard.Node().Spawn(s.member.TermScope(), what, func(t env.Task) {
		_ = s.look(t, ns, chunk)
		n.looking = false
		if i := slices.Index(s.looking, what); i >= 0 {
			s.looking = slices.Delete(s.looking, i, i+1)
		}
	})
}
