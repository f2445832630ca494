package replset

import (
	"encoding/binary"
	"hash/crc32"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/oplog"
)

// A record of the journal file is a head of eight bytes, checksum and length of the body, and the
// body: a letter for its kind, numbers as varints, then the data of an entry. An entry replaces
// those of its index and later ones.
const (
	recordHead = 8
	kindBase   = 'b' // the place before the first entry: term, index
	kindHard   = 'h' // term, vote, commit
	kindEntry  = 'e' // term, index, data
	// recordOverhead is what a record takes besides its data while its numbers are below 2^28.
	recordOverhead = recordHead + 1 + 3*4
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

func appendBase(b []byte, at oplog.Time) []byte {
	return appendRecord(b, kindBase, nil, at.Term, at.Index)
}

func appendHard(b []byte, h hardState) []byte {
	return appendRecord(b, kindHard, nil, h.term, h.vote, h.commit)
}

func appendEntry(b []byte, e *pb.Entry) []byte {
	return appendRecord(b, kindEntry, e.Data, e.Term, e.Index)
}

// recordsSize is enough for the records of entries, a guess that saves growing.
func recordsSize(entries []pb.Entry) int {
	size := recordOverhead * len(entries)
	for i := range entries {
		size += len(entries[i].Data)
	}
	return size
}

func appendRecord(b []byte, kind byte, data []byte, numbers ...uint64) []byte {
	head := len(b)
	b = append(b, make([]byte, recordHead)...)
	b = append(b, kind)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	b = append(b, data...)
	body := b[head+recordHead:]
	binary.LittleEndian.PutUint32(b[head:], crc32.Checksum(body, crcTable))
	binary.LittleEndian.PutUint32(b[head+4:], uint32(len(body)))
	return b
}

// journalContent is what a journal file says.
type journalContent struct {
	base    oplog.Time
	hard    hardState
	entries []pb.Entry
}

// readJournal reads records up to the first that is torn; sound is the length of what comes before
// it.
func readJournal(b []byte) (r journalContent, sound int) {
	for {
		body := intactRecord(b[sound:])
		if body == nil || !r.add(body) {
			return r, sound
		}
		sound += recordHead + len(body)
	}
}

// intactRecord returns the body of the first record of b, nil when it is not whole.
func intactRecord(b []byte) []byte {
	if len(b) < recordHead {
		return nil
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:]))
	if n == 0 || n > uint64(len(b)-recordHead) {
		return nil
	}
	body := b[recordHead : recordHead+n]
	if crc32.Checksum(body, crcTable) != binary.LittleEndian.Uint32(b) {
		return nil
	}
	return body
}

// add takes over one record; false when it makes no sense.
func (r *journalContent) add(body []byte) bool {
	kind, rest := body[0], body[1:]
	switch kind {
	case kindBase:
		numbers, _, ok := readUvarints(rest, 2)
		*r = journalContent{base: oplog.Time{Term: numbers[0], Index: numbers[1]}, hard: r.hard}
		return ok
	case kindHard:
		numbers, _, ok := readUvarints(rest, 3)
		r.hard = hardState{numbers[0], numbers[1], numbers[2]}
		return ok
	case kindEntry:
		numbers, data, ok := readUvarints(rest, 2)
		return ok && r.place(numbers[0], numbers[1], data)
	}
	return false
}

func (r *journalContent) place(term, index uint64, data []byte) bool {
	at := index - r.base.Index - 1
	if index <= r.base.Index || at > uint64(len(r.entries)) {
		return false
	}
	e := pb.Entry{Term: term, Index: index}
	if len(data) > 0 {
		e.Data = append([]byte(nil), data...)
	}
	r.entries = append(r.entries[:at], e)
	return true
}

// holds reports whether the log contains a place, so that it may go on from there.
func (r *journalContent) holds(at oplog.Time) bool {
	if at == r.base {
		return true
	}
	i := at.Index - r.base.Index - 1
	return at.Index > r.base.Index && i < uint64(len(r.entries)) && r.entries[i].Term == at.Term
}

func (r *journalContent) last() uint64 { return r.base.Index + uint64(len(r.entries)) }

// readUvarints reads n numbers, at most three.
func readUvarints(b []byte, n int) (numbers [3]uint64, rest []byte, ok bool) {
	for i := range n {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return numbers, nil, false
		}
		numbers[i], b = v, b[size:]
	}
	return numbers, b, true
}
