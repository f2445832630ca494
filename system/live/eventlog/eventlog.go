// Package eventlog keeps the newest events of a node in a folder, in segments of binary records:
// what oracles see of a simulated run, they can see of a live one.
//
// Promise: writing never makes the node wait, and the folder stays within its bound: the oldest
// segment goes first, and events that come faster than they can be written are counted and left
// out. A record that a crash has torn ends its segment; everything before it is read.
//
// Refusal: nothing is synced. The log tells what happened; nothing rests on it.
package eventlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// Limits of a log. The zero Limits are the defaults.
type Limits struct {
	// Segment is from how many bytes on a segment is full. Zero: 16 MiB.
	Segment int
	// Segments are kept at most. Zero: 8.
	Segments int
	// Queue is how many events may wait to be written. Zero: 16384.
	Queue int
}

func (l *Limits) fill() {
	if l.Segment == 0 {
		l.Segment = 16 << 20
	}
	if l.Segments == 0 {
		l.Segments = 8
	}
	if l.Queue == 0 {
		l.Queue = 16384
	}
}

// magic begins every segment. Then come records: the length of the body and its checksum, four
// bytes each, and the body: the incarnation and the event.
const (
	magic      = "shardproof.eventlog/1\n"
	recordHead = 8
	mostRecord = 64 << 20
)

// flushEvery is how long an event may wait in memory.
const flushEvery = 100 * time.Millisecond

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Log is an open log. Add is called by one goroutine at a time.
type Log struct {
	folder string
	limits Limits
	log    *slog.Logger
	queue  chan entry
	closed sync.Once
	ended  chan struct{}
	// Of Add.
	dropped uint64
	// Of the goroutine that writes.
	file *os.File
	out  *bufio.Writer
	size int
	body []byte
}

type entry struct {
	incarnation int
	event       trace.Event
}

// Open begins a new segment in the folder, which it makes if it is missing.
func Open(folder string, limits Limits, log *slog.Logger) (*Log, error) {
	limits.fill()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	l := &Log{folder: folder, limits: limits, log: log,
		queue: make(chan entry, limits.Queue), ended: make(chan struct{})}
	if err := l.turn(); err != nil {
		return nil, err
	}
	go l.run()
	return l, nil
}

// Add has an event of an incarnation written, or counts it as dropped.
func (l *Log) Add(incarnation int, e *trace.Event) {
	select {
	case l.queue <- entry{incarnation, *e}:
	default:
		l.dropped++
	}
}

// Dropped is how many events were left out.
func (l *Log) Dropped() uint64 { return l.dropped }

// Close writes what was added; nothing may be added any more.
func (l *Log) Close() {
	l.closed.Do(func() { close(l.queue) })
	<-l.ended
}

func (l *Log) run() {
	defer close(l.ended)
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	var failed bool
	for {
		var err error
		select {
		case e, more := <-l.queue:
			if !more {
				l.report(errors.Join(l.out.Flush(), l.file.Close()), failed)
				return
			}
			err = l.write(&e)
		case <-flush.C:
			err = l.out.Flush()
		}
		l.report(err, failed)
		failed = failed || err != nil
	}
}

// report says the first error; a log that cannot be written does not end a node.
func (l *Log) report(err error, failed bool) {
	if err != nil && !failed {
		l.log.Warn("the event log cannot be written", "folder", l.folder, "why", err)
	}
}

func (l *Log) write(e *entry) error {
	if l.size >= l.limits.Segment {
		if err := errors.Join(l.out.Flush(), l.file.Close(), l.turn()); err != nil {
			return err
		}
	}
	b := append(l.body[:0], make([]byte, recordHead)...)
	b = binary.AppendUvarint(b, uint64(e.incarnation))
	b, err := e.event.AppendBinary(b)
	if err != nil {
		return err
	}
	l.body = b
	body := b[recordHead:]
	binary.LittleEndian.PutUint32(b, uint32(len(body)))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(body, castagnoli))
	l.size += len(b)
	_, err = l.out.Write(b)
	return err
}

// turn begins the next segment and removes those that are too many.
func (l *Log) turn() error {
	all, err := segments(l.folder)
	if err != nil {
		return err
	}
	for len(all) >= l.limits.Segments {
		if err := os.Remove(all[0]); err != nil {
			return err
		}
		all = all[1:]
	}
	next := 1
	if len(all) > 0 {
		if _, err := fmt.Sscanf(filepath.Base(all[len(all)-1]), segmentName, &next); err != nil {
			return fmt.Errorf("file %s does not belong into a log: %w", all[len(all)-1], err)
		}
		next++
	}
	name := filepath.Join(l.folder, fmt.Sprintf(segmentName, next))
	if l.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	l.out = bufio.NewWriterSize(l.file, 64<<10)
	l.size = len(magic)
	_, err = l.out.WriteString(magic)
	return err
}

const segmentName = "%08d.events"

// segments lists the files of a log, the oldest first.
func segments(folder string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(folder, "*.events"))
	slices.Sort(all)
	return all, err
}

// Read calls each with every event of a log, the oldest first, until it returns an error. A torn
// end of a segment is no error; a file that is no segment is one.
func Read(folder string, each func(incarnation int, e *trace.Event) error) error {
	all, err := segments(folder)
	if err != nil {
		return err
	}
	for _, name := range all {
		if err := readSegment(name, each); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func readSegment(name string, each func(int, *trace.Event) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	begin := make([]byte, len(magic))
	if n, err := io.ReadFull(r, begin); err != nil && n == 0 {
		return nil // a crash came before the first flush
	}
	if string(begin) != magic {
		return fmt.Errorf("it does not begin with %q; it is of another version or no event log",
			magic)
	}
	for {
		body, whole := record(r)
		if !whole {
			return nil
		}
		incarnation, size := binary.Uvarint(body)
		if size <= 0 {
			return errors.New("a record has no incarnation")
		}
		var e trace.Event
		if err := e.UnmarshalBinary(body[size:]); err != nil {
			return err
		}
		if err := each(int(incarnation), &e); err != nil {
			return err
		}
	}
}

// record is the body of the next record; false when there is none that is whole.
func record(r io.Reader) ([]byte, bool) {
	var head [recordHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, false
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > mostRecord {
		return nil, false
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, false
	}
	return body, crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(head[4:])
}
