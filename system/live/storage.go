package live

import (
	"sync"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/disk"
)

// nodeDisk carries out the operations of a node's disk one after the other, on a goroutine of its
// own, while the loop goes on.
type nodeDisk struct {
	node   *node
	folder *disk.Folder
	mu     sync.Mutex
	queue  []func()
	wake   chan struct{}
	over   bool
	ended  chan struct{}
}

func newDisk(n *node, folder *disk.Folder) *nodeDisk {
	d := &nodeDisk{node: n, folder: folder, wake: make(chan struct{}, 1),
		ended: make(chan struct{})}
	go d.run()
	return d
}

func (d *nodeDisk) run() {
	defer close(d.ended)
	for {
		d.mu.Lock()
		batch, over := d.queue, d.over
		d.queue = nil
		d.mu.Unlock()
		if over {
			return
		}
		if len(batch) == 0 {
			<-d.wake
		}
		for _, op := range batch {
			op()
		}
	}
}

// close ends the disk after the operations that it is at; those behind are not carried out.
func (d *nodeDisk) close() {
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	d.signal()
	<-d.ended
	if err := d.folder.Close(); err != nil {
		d.node.opts.Log.Warn("the folder was not closed cleanly", "why", err)
	}
}

func (d *nodeDisk) signal() {
	select {
	case d.wake <- struct{}{}:
	default: // it is awake already
	}
}

func (d *nodeDisk) add(op func()) {
	d.mu.Lock()
	d.queue = append(d.queue, op)
	d.mu.Unlock()
	d.signal()
}

// do has the disk carry out an operation, and waits for its end.
func (d *nodeDisk) do(by env.Task, op func() ([]byte, error)) ([]byte, error) {
	t := by.(*task)
	if err := t.enter(); err != nil {
		return nil, err
	}
	then := t.waits
	d.add(func() {
		read, err := op()
		d.node.loop.post(func() {
			if t.waitsFor(onDisk, then) {
				t.answer = read
				t.wake(err)
			}
		})
	})
	err := t.wait(onDisk)
	read, _ := t.answer.([]byte)
	t.answer = nil
	return read, err
}

// Append implements env.Disk. The error of an append is that of every later operation.
func (d *nodeDisk) Append(t env.Task, file string, p []byte) error {
	if err := t.(*task).enter(); err != nil {
		return err
	}
	d.add(func() { _ = d.folder.Append(file, p) })
	return nil
}

// Sync implements env.Disk.
func (d *nodeDisk) Sync(t env.Task, file string) error {
	_, err := d.do(t, func() ([]byte, error) { return nil, d.folder.Sync(file) })
	return err
}

// Replace implements env.Disk.
func (d *nodeDisk) Replace(t env.Task, file string, p []byte) error {
	_, err := d.do(t, func() ([]byte, error) { return nil, d.folder.Replace(file, p) })
	return err
}

// Read implements env.Disk.
func (d *nodeDisk) Read(t env.Task, file string) ([]byte, error) {
	return d.do(t, func() ([]byte, error) { return d.folder.Read(file) })
}
