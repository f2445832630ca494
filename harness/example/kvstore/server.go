package kvstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// Server is one incarnation of a server.
type Server struct {
	config *Config
	node   env.Node
	shard  string
	pairs  map[int64]string
	// table is the newest that the server has heard of. It serves what is its own by it.
	table Table
	// writes lets one change of pairs be made at a time.
	writes lock
	// index counts the records of the log.
	index uint64
	out   *outgoing
	in    incoming
}

// record is a line of the log: pairs that were written, a range that was dropped, or a movement that began.
type record struct {
	Pairs []Pair    `json:"p,omitempty"`
	Drop  *Owned    `json:"drop,omitempty"`
	In    *incoming `json:"in,omitempty"`
}

// logFile is where a server keeps what it has.
const logFile = "log"

// Boot starts a server: it has what its log says, less what it does not own by a new version of the table.
func (c *Config) Boot(t env.Task, shard string) *Server {
	s := &Server{config: c, node: t.Node(), shard: shard, pairs: make(map[int64]string)}
	term := uint64(s.node.Incarnation())
	if s.recover(t) != nil {
		return s
	}
	s.node.Emit(&trace.Event{Kind: trace.Elected, Shard: shard, Term: term, Index: s.index})
	table, err := insist[Table](t, Directory, &Fetch{Fence: true})
	if err != nil {
		return s
	}
	s.table = *table
	if s.in.Open {
		s.close(t, table)
	}
	if s.index == 0 && s.found(t) != nil || s.dropForeign(t) != nil {
		return s
	}
	s.node.Serve(s.handle)
	s.node.Emit(&trace.Event{Kind: trace.Writable, Shard: shard, Term: term})
	return s
}

// recover reads the log up to where a crash has torn it.
func (s *Server) recover(t env.Task) error {
	text, err := s.node.Disk().Read(t, logFile)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(whole) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			panic(fmt.Sprintf("kvstore: the log of %s is damaged: %q", s.node.ID(), line))
		}
		s.index++
		s.apply(&r)
	}
	if len(whole) == len(text) {
		return nil
	}
	return s.node.Disk().Replace(t, logFile, whole)
}

// found writes what is there at first.
func (s *Server) found(t env.Task) error {
	var first []Pair
	for _, k := range slices.Sorted(maps.Keys(s.config.Pairs)) {
		if s.table.Owner(k) == s.shard {
			first = append(first, Pair{Key: k, Value: s.config.Pairs[k]})
		}
	}
	return s.write(t, &record{Pairs: first}, trace.System, "")
}

// dropForeign deletes what the server does not own.
func (s *Server) dropForeign(t env.Task) error {
	for _, o := range s.table.Ranges {
		if o.Shard != s.shard && s.write(t, &record{Drop: &o}, trace.RangeDeleter, "") != nil {
			return t.Err()
		}
	}
	return nil
}

func (s *Server) handle(t env.Task, _ env.NodeID, m env.Message) (env.Message, error) {
	switch req := m.(type) {
	case *Request:
		return s.request(t, req)
	case *Copy:
		return s.copy(t, req)
	case *Switch:
		return s.switchOver(t, req)
	case *Install:
		return s.install(t, &req.Part)
	case *CatchUp:
		return s.install(t, &req.Part)
	}
	return nil, errcode.New(Refused, "%s does not know %T", s.node.ID(), m)
}

// request carries out a client's operation. Nothing waits between the test of ownership and the answer of a read; a change
// holds the lock from the test to the disk.
func (s *Server) request(t env.Task, req *Request) (*Reply, error) {
	if err := t.Point(SiteRequest, env.Note{}); err != nil {
		return nil, err
	}
	if err := s.learn(t, req.Key); err != nil {
		return nil, err
	}
	if req.Do == Get {
		return s.look(req), s.mine(req.Key)
	}
	if err := s.writes.take(t); err != nil {
		return nil, err
	}
	defer s.writes.release()
	r := s.look(req)
	if err := s.mine(req.Key); err != nil || !r.Applied {
		return r, err
	}
	after := Pair{Key: req.Key, Value: req.Value, Deleted: req.Do == Remove}
	if err := s.write(t, &record{Pairs: []Pair{after}}, trace.User, ""); err != nil {
		return nil, err
	}
	if s.out != nil && s.out.given.has(req.Key) {
		s.out.changed[req.Key] = true
	}
	return r, nil
}

// look is what a request finds, and whether it has an effect.
func (s *Server) look(req *Request) *Reply {
	value, found := s.pairs[req.Key]
	r := &Reply{Found: found, Value: value}
	switch req.Do {
	case Put:
		r.Applied = true
	case Remove:
		r.Applied = found
	case Swap:
		r.Applied = found == (req.Expect != "") && value == req.Expect
	}
	return r
}

// learn fetches the table when the server does not own a key by its own.
func (s *Server) learn(t env.Task, k int64) error {
	if s.table.Owner(k) == s.shard {
		return nil
	}
	table, err := call[Table](t, Directory, &Fetch{})
	if err == nil {
		s.adopt(table)
	}
	return err
}

// adopt takes a table over, if it is newer.
func (s *Server) adopt(table *Table) {
	if table.Version > s.table.Version {
		s.table = *table
	}
}

// mine refuses what the server does not own, or what is changing hands.
func (s *Server) mine(k int64) error {
	switch {
	case s.table.Owner(k) != s.shard:
		return errcode.New(NotOwner, "%s does not own %d", s.shard, k)
	case s.out != nil && s.out.stopped && s.out.given.has(k):
		return errcode.New(Stopped, "%d is changing hands", k)
	}
	return nil
}

// write makes a record durable and carries it out. When nobody knows whether it was written, the process ends: it must not
// go on with one opinion and come back with another.
func (s *Server) write(t env.Task, r *record, actor trace.Actor, move string) error {
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("kvstore: the record %v cannot be written: %v", r, err))
	}
	disk := s.node.Disk()
	err = disk.Append(t, logFile, append(line, '\n'))
	if err == nil {
		err = disk.Sync(t, logFile)
	}
	if err != nil {
		s.node.Abort("nobody knows whether the log was written: " + err.Error())
		return err
	}
	s.index++
	for _, p := range s.apply(r) {
		e := trace.AppliedEvent{
			Shard: s.shard, Term: uint64(s.node.Incarnation()), Index: s.index, NS: s.config.NS,
			Actor: actor, For: move, Key: string(key.Int(p.Key)), DocID: string(key.Int(p.Key)),
		}
		if !p.Deleted {
			e.Hash = hashOf(p.Value)
		}
		s.node.Emit(e.Event())
	}
	return nil
}

// apply carries a record out, and returns what has changed.
func (s *Server) apply(r *record) []Pair {
	if r.In != nil {
		s.in = *r.In
	}
	changed := r.Pairs
	if r.Drop != nil {
		for _, k := range slices.Sorted(maps.Keys(s.pairs)) {
			if r.Drop.has(k) {
				changed = append(changed, Pair{Key: k, Deleted: true})
			}
		}
	}
	for _, p := range changed {
		if p.Deleted {
			delete(s.pairs, p.Key)
		} else {
			s.pairs[p.Key] = p.Value
		}
	}
	return changed
}

func hashOf(value string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(value))
	return h.Sum64() | 1
}

// Pairs are those that the server has, by key.
func (s *Server) Pairs() (all []Pair) {
	for _, k := range slices.Sorted(maps.Keys(s.pairs)) {
		all = append(all, Pair{Key: k, Value: s.pairs[k]})
	}
	return all
}

// Table is the newest table that the server has heard of.
func (s *Server) Table() *Table { return &s.table }

// Applied is how many records its log has.
func (s *Server) Applied() uint64 { return s.index }

// Moving names the movements that it takes part in.
func (s *Server) Moving() (all []string) {
	if s.out != nil {
		all = append(all, fmt.Sprintf("movement %s from %s", s.out.move, s.shard))
	}
	if s.in.Open {
		all = append(all, fmt.Sprintf("movement %s to %s", s.in.Move, s.shard))
	}
	return all
}
