package router

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
)

// changeStream merges the changes of one collection from the logs of its shards.
//
// Promise: changes come in the order of their tokens, each once, until the collection is dropped or
// renamed. One is delivered only when every shard that may have an earlier one was read beyond its
// time.
//
// Invariant: everything up to after was delivered. A shard that is not among the tails has no
// change behind after, unless a tail announces that shard before it.
type changeStream struct {
	router *Router
	ns     string
	limit  int // of changes that one request asks of a shard
	tails  []*shardTail
	after  command.Token
	// ended: the collection is gone, and its last change was delivered.
	ended bool
	// pinned means that the collection is not sharded: every read names the version of the
	// database, and a move of its primary ends the stream.
	pinned bool
}

// shardTail is one shard's log as far as it was read.
type shardTail struct {
	set *rpc.Set
	// high is up to when the log was read; changes are those that were read and not merged.
	high    hlc.Timestamp
	changes []command.Change
	// opens is the version by which the shard was chosen, until it has agreed; receivers is what it
	// said then.
	opens     *command.Placement
	receivers []string
	// silent: nobody has answered for the shard when it was last asked.
	silent bool
}

// kill has nothing to let go of: shards keep nothing for a stream.
func (s *changeStream) kill(env.Task) {}

// add reads another shard from a time on, unless it is read already.
func (s *changeStream) add(shard string, from hlc.Timestamp) (*shardTail, error) {
	for _, l := range s.tails {
		if l.set.Name() == shard {
			return l, nil
		}
	}
	set, err := s.router.shard(shard)
	if err != nil {
		return nil, err
	}
	l := &shardTail{set: set, high: from}
	s.tails = append(s.tails, l)
	return l, nil
}

// low is up to when all shards were read.
func (s *changeStream) low() hlc.Timestamp {
	low := s.tails[0].high
	for _, l := range s.tails {
		low = min(low, l.high)
	}
	return low
}

// read asks all shards that have nothing left to merge for what comes next, up to a time and
// beyond, all at once: the answers also carry the current cluster time. The error is that of one of
// them; what the others said is kept.
func (s *changeStream) read(t env.Task, reach hlc.Timestamp) error {
	var behind []*shardTail
	for _, l := range s.tails {
		if len(l.changes) == 0 {
			behind = append(behind, l)
		}
	}
	if len(behind) == 1 {
		return behind[0].read(t, s, reach)
	}
	var all cursorOpening
	for _, l := range behind {
		all.left++
		t.Spawn("m.readChanges "+l.set.Name(), func(own env.Task) {
			all.ended(l.read(own, s, reach))
		})
	}
	if err := all.done.WaitFor(t, 0, func() bool { return all.left == 0 }); err != nil {
		return err
	}
	return all.err
}

// next takes up to size changes that nothing can come before any more, all of them for a size of
// zero.
func (s *changeStream) next(t env.Task, size int) (all []command.Change) {
	for !s.ended && (size == 0 || len(all) < size) {
		from := s.first()
		if from == nil {
			s.after = laterToken(s.after, command.Mark(s.low()))
			break
		}
		c := from.changes[0]
		if c.Kind == command.ChangeNewShard && !s.join(t, &c) {
			break
		}
		from.changes = from.changes[1:]
		if c.Token.Compare(s.after) <= 0 { // delivered before the stream was resumed
			if c.Ends() && c.Token == s.after { // but not that the stream is over
				all = append(all, s.invalidate())
			}
			continue
		}
		s.after = c.Token
		if c.Kind != command.ChangeNewShard {
			all = append(all, c)
		}
		if c.Ends() {
			all = append(all, s.invalidate())
		}
	}
	return all
}

// invalidate ends the stream. Every shard of the collection reports its end, after all writes to
// any of them: the first report is enough.
func (s *changeStream) invalidate() command.Change {
	s.ended = true
	s.after.N++
	return command.Change{Kind: command.ChangeInvalidate, Token: s.after}
}

func laterToken(a, b command.Token) command.Token {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

// join reads the shard that a change announces, from the announcement on: until that was done,
// nothing later is certain. It is false when it has to be tried again.
func (s *changeStream) join(t env.Task, c *command.Change) bool {
	if slices.ContainsFunc(s.tails, func(l *shardTail) bool { return l.set.Name() == c.Shard }) {
		return true
	}
	if t.Point(failpoint.ChangesNewShard, env.Note{Peer: c.Shard, ID: s.ns}) != nil {
		return false
	}
	t.Node().Sometimes("a change stream follows a range to a new shard")
	_, err := s.add(c.Shard, c.Token.TS)
	return err == nil
}

// first is the tail with the first change of all, nil unless it is certain that nothing comes
// before.
func (s *changeStream) first() *shardTail {
	var first *shardTail
	for _, l := range s.tails {
		if len(l.changes) > 0 &&
			(first == nil || l.changes[0].Token.Compare(first.changes[0].Token) < 0) {
			first = l
		}
	}
	if first == nil || first.changes[0].Token.TS > s.low() {
		return nil
	}
	return first
}
