package sim

import (
	"slices"
	"sort"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/system/env"
)

// disk is a machine's disk. It serves one operation after the other, in the order of the requests;
// an operation takes effect when it ends, whether or not the task that asked still waits for it.
type disk struct {
	machine *machine
	files   map[string]*file
	// pending are the requests in progress, in the order in which the disk serves them, until busy.
	pending []diskOp
	busy    env.Time
	// slowness is the factor on all latencies; tail, when not 0, replaces the odds of a slow
	// operation.
	slowness int64
	tail     Probability
	ops      [opKinds]opQuestions
}

// file is a file's content, kept as it was written, piece by piece: files grow by many appends and
// are seldom read. Of its size, the first synced bytes are durable; replaced counts how often it
// was replaced as a whole.
type file struct {
	pieces       [][]byte
	size, synced int
	replaced     int
}

func (f *file) append(p []byte) {
	f.pieces = append(f.pieces, p)
	f.size += len(p)
}

// content is the whole file; not nil, as the file exists.
func (f *file) content() []byte {
	all := make([]byte, 0, f.size)
	for _, p := range f.pieces {
		all = append(all, p...)
	}
	return all
}

// cut keeps the first n bytes. What was not durable is not durable now either: the next crash may
// take it, unless somebody syncs the file.
func (f *file) cut(n int) {
	*f = file{
		pieces: [][]byte{f.content()[:n:n]}, size: n, synced: min(f.synced, n), replaced: f.replaced,
	}
}

type opKind uint8

const (
	opAppend opKind = iota
	opSync
	opReplace
	opRead
	opKinds
)

var opNames = [opKinds]string{
	opAppend:  "append",
	opSync:    "sync",
	opReplace: "replace",
	opRead:    "read",
}

// opQuestions are the questions about one kind of operation on one disk.
type opQuestions struct {
	site          string
	count         uint64
	latency, tail *question
}

// diskOp is one request. The event at its end names the disk only, which serves in order.
type diskOp struct {
	task *task
	kind opKind
	file string
	data []byte
	nth  uint64
	// ends is when the operation takes effect.
	ends env.Time
	// wait is the number of the task's call that waits for this operation.
	wait uint64
}

func (d *disk) Append(t env.Task, file string, p []byte) error {
	// Nobody sees an append before a later operation has ended, or a crash: it needs no event.
	return d.queue(t.(*task), opAppend, file, p)
}

func (d *disk) Sync(t env.Task, file string) error {
	_, err := d.do(t, opSync, file, nil)
	return err
}

func (d *disk) Replace(t env.Task, file string, p []byte) error {
	_, err := d.do(t, opReplace, file, p)
	return err
}

func (d *disk) Read(t env.Task, file string) ([]byte, error) { return d.do(t, opRead, file, nil) }

// queue has the disk serve an operation after those before it.
func (d *disk) queue(t *task, kind opKind, file string, data []byte) error {
	if err := t.enter(); err != nil {
		return err
	}
	t.calls++
	op := diskOp{task: t, kind: kind, file: file, data: data, wait: t.calls}
	d.busy = max(d.busy, d.machine.world.now).Add(d.latency(&op))
	op.ends = d.busy
	d.pending = append(d.pending, op)
	return nil
}

// do queues an operation and waits for its end.
func (d *disk) do(by env.Task, kind opKind, file string, data []byte) ([]byte, error) {
	t := by.(*task)
	if err := d.queue(t, kind, file, data); err != nil {
		return nil, err
	}
	d.machine.world.agenda.add(d.busy, eventSlot{node: t.node, disk: d})
	err := t.wait(onDisk)
	read, _ := t.reply.([]byte)
	t.reply = nil
	return read, err
}

// latency is how long the disk is busy with op.
func (d *disk) latency(op *diskOp) time.Duration {
	w := d.machine.world
	q := d.questions(op.kind)
	q.count++
	op.nth = q.count
	if w.opts.OnInjectionPoint != nil {
		w.opts.OnInjectionPoint(InjectionPoint{
			Site:    q.site,
			Nth:     op.nth,
			Node:    d.machine.id,
			Durable: op.kind == opSync || op.kind == opReplace,
		})
	}
	base := [opKinds]Latency{
		opAppend:  w.opts.Disk.Append,
		opSync:    w.opts.Disk.Sync,
		opReplace: w.opts.Disk.Replace,
		opRead:    w.opts.Disk.Read,
	}[op.kind]
	took := base.Base + time.Duration(w.gate.pick(q.latency, op.nth, int64(base.Jitter)+1))
	took *= time.Duration(d.slowness * d.machine.slowness)
	odds := w.opts.Disk.Tail
	if d.tail != 0 {
		odds = d.tail
	}
	longest := int64(w.opts.Disk.TailDelay)
	return took + time.Duration(w.gate.amount(q.tail, op.nth, odds, longest))
}

func (d *disk) questions(kind opKind) *opQuestions {
	q := &d.ops[kind]
	if q.latency == nil {
		g := d.machine.world.gate
		q.site = string(d.machine.id) + "/" + opNames[kind]
		q.latency, q.tail = g.question(diskLatencyKind, q.site), g.question(DiskTail, q.site)
	}
	return q
}

// next takes the operation off the queue that takes effect before all others.
func (d *disk) next() diskOp {
	op := d.pending[0]
	d.pending = slices.Delete(d.pending, 0, 1)
	return op
}

// serve ends the first operation that a task may wait for, and the appends before it.
func (d *disk) serve() {
	op := d.next()
	for ; op.kind == opAppend; op = d.next() {
		d.apply(&op)
	}
	w, t := d.machine.world, op.task
	q := &d.ops[op.kind]
	w.note(stepDisk, d.machine, q.site, op.nth, q.tail.hash)
	d.apply(&op)
	if t.state == onDisk && t.calls == op.wait {
		if op.kind == opRead {
			t.reply = op.data
		}
		w.resume(t)
	}
}

func (d *disk) apply(op *diskOp) {
	f := d.files[op.file]
	if f == nil {
		if op.kind == opRead || op.kind == opSync {
			return
		}
		f = &file{}
		d.files[op.file] = f
	}
	switch op.kind {
	case opAppend:
		f.append(op.data)
	case opSync:
		f.synced = f.size
	case opReplace:
		size := len(op.data)
		*f = file{
			pieces: [][]byte{op.data}, size: size, synced: size, replaced: f.replaced + 1,
		}
	case opRead:
		op.data = f.content()
	}
}

// crash leaves what a real disk may hold: the operation being served may or may not have taken
// effect, those behind it have not, and of the bytes that were not synced a prefix is kept.
func (d *disk) crash() {
	now := d.machine.world.now
	for len(d.pending) > 0 && d.pending[0].kind == opAppend && d.pending[0].ends <= now {
		op := d.next()
		d.apply(&op)
	}
	if len(d.pending) > 0 {
		d.interrupted(&d.pending[0])
	}
	d.pending, d.busy = nil, now
	names := make([]string, 0, len(d.files))
	for name := range d.files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		d.tear(name, d.files[name])
	}
}

// interrupted decides about the operation that a crash met: an append becomes part of the unsynced
// bytes, a replacement happens or not. A sync that had not returned promised nothing.
func (d *disk) interrupted(op *diskOp) {
	g := d.machine.world.gate
	switch op.kind {
	case opAppend:
		d.apply(op)
	case opReplace:
		q := g.question(Replaced, string(d.machine.id)+"/"+op.file)
		q.asked++
		if g.decide(q, q.asked, Always/2) {
			d.apply(op)
		}
	}
}

// tear keeps a prefix of the unsynced bytes: none of them, all, or any number.
func (d *disk) tear(name string, f *file) {
	if unsynced := int64(f.size - f.synced); unsynced > 0 {
		g := d.machine.world.gate
		q := g.question(Kept, string(d.machine.id)+"/"+name)
		q.asked++
		keep := g.fault(q, q.asked, func(h uint64) int64 {
			switch h & 3 {
			case 0:
				return 0
			case 1:
				return unsynced
			}
			return scaleBelow(keyed.Mix(h), unsynced+1)
		})
		f.cut(f.synced + int(min(max(keep, 0), unsynced)))
	}
}

// Durable is what every crash leaves of a file, from an offset on, and how often the file was
// replaced as a whole; nil when there is no more. It is a look from outside, and not to be changed.
func (w *World) Durable(id env.NodeID, name string, from int) (b []byte, replaced int) {
	f := w.machine(id).disk.files[name]
	if f == nil {
		return nil, 0
	}
	if from < f.synced {
		b = f.tail(from)[:f.synced-from]
	}
	return b, f.replaced
}

// tail is the content from an offset on.
func (f *file) tail(from int) (b []byte) {
	i, at := len(f.pieces), f.size
	for at > from {
		i--
		at -= len(f.pieces[i])
	}
	if i == len(f.pieces)-1 {
		return f.pieces[i][from-at:] // nobody writes to what was written
	}
	for _, p := range f.pieces[i:] {
		b = append(b, p[max(0, from-at):]...)
		at += len(p)
	}
	return b
}

// SetDiskSlowness sets the factor on the latencies of the node's disk (1 is normal) and the odds of
// a slow operation (0: those of Options).
func (w *World) SetDiskSlowness(id env.NodeID, factor int, tail Probability) {
	d := &w.machine(id).disk
	d.slowness, d.tail = int64(max(factor, 1)), tail
}
