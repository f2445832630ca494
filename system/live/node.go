package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/coroutine"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/live/disk"
	"github.com/shardproof/shardproof/system/live/tcp"
)

// Node is one incarnation of a node. Its exported methods may be called from any goroutine but the
// node's own tasks.
type Node struct{ n *node }

// node is the incarnation as its own tasks see it: its methods are called on the loop.
type node struct {
	opts        Options
	loop        *loop
	pool        coroutine.Pool
	incarnation int
	seed        uint64
	asked       map[question]uint64
	scope       env.Scope
	handler     env.Handler
	receiver    env.Receiver
	disk        *nodeDisk
	wire        *tcp.Node
	// inbound is the budget of bytes that have arrived and not been taken by the loop.
	inbound *semaphore.Weighted
	// arriving ends when the node does.
	arriving context.Context
	hangUp   context.CancelFunc
	// calls are the tasks that wait for an answer, by the number of their request.
	calls   map[uint64]*task
	called  uint64
	running *task
	tasks   taskList
	events  uint64
	reached map[string]uint64
	// dead: nothing that the node's code does has an effect any more.
	dead bool
	err  *Broken
	done chan struct{}
}

type question struct {
	kind env.Choice
	site string
}

// The files of a node's folder besides those of its disk.
const (
	incarnationFile = "incarnation"
	seedFile        = "seed"
)

// Start starts an incarnation of a node. Its Boot runs as the first task, perhaps not before Start
// has returned.
func Start(opts Options) (*Node, error) {
	opts.fill()
	refreshFailpoints()
	folder, err := disk.Open(opts.Folder)
	if err != nil {
		return nil, err
	}
	n := &node{opts: opts, loop: newLoop(), asked: make(map[question]uint64),
		calls: make(map[uint64]*task), reached: make(map[string]uint64), done: make(chan struct{})}
	if err := n.connect(folder); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	n.disk = newDisk(n, folder)
	n.opts.Log.Info("node starts", "incarnation", n.incarnation, "seed", n.seed)
	n.loop.next(func() {
		n.Emit(trace.NodeUpEvent{Incarnation: n.incarnation}.Event())
		n.Spawn(nil, "boot", opts.Boot)
	})
	go n.run()
	return &Node{n}, nil
}

// connect reads what the folder says of earlier incarnations and opens the network.
func (n *node) connect(folder *disk.Folder) error {
	last, err := number(folder, incarnationFile)
	if err != nil {
		return err
	}
	n.incarnation = int(last) + 1
	if err := record(folder, incarnationFile, uint64(n.incarnation)); err != nil {
		return err
	}
	if n.seed, err = number(folder, seedFile); err != nil {
		return err
	}
	if n.seed == 0 {
		n.seed = keyed.Text(uint64(time.Now().UnixNano()), string(n.opts.ID)) | 1
		if err := record(folder, seedFile, n.seed); err != nil {
			return err
		}
	}
	peers := make(map[string]string, len(n.opts.Peers))
	for id, address := range n.opts.Peers {
		peers[string(id)] = address
	}
	n.wire, err = tcp.New(tcp.Config{Self: string(n.opts.ID), Cluster: n.opts.Cluster,
		Peers: peers, Key: n.opts.Key, Limits: n.opts.Limits, Handler: arrivals{n},
		Log: n.opts.Log})
	if err != nil {
		return err
	}
	n.inbound = semaphore.NewWeighted(mostInbound)
	n.arriving, n.hangUp = context.WithCancel(context.Background())
	if n.opts.Listener == nil {
		return nil
	}
	return n.wire.Serve(n.opts.Listener)
}

// number reads a file that holds a number; 0 when there is none.
func number(folder *disk.Folder, file string) (uint64, error) {
	text, err := folder.Read(file)
	if err != nil || text == nil {
		return 0, err
	}
	value, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("file %s of the node's folder must hold a number: %w", file, err)
	}
	return value, nil
}

func record(folder *disk.Folder, file string, value uint64) error {
	return folder.Replace(file, strconv.AppendUint(nil, value, 10))
}

// run is the node's goroutine.
func (n *node) run() {
	n.guarded(n.loop.run)
	n.dead = true
	n.hangUp()
	n.wire.Close()
	n.disk.close()
	n.unwind()
	n.pool.Close()
	close(n.done)
}

// guarded runs inline code; its panic is the node's end.
func (n *node) guarded(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			n.broke("inline", r)
		}
	}()
	fn()
}

// unwind ends every task: its waits panic, so that deferred functions run, without any effect.
func (n *node) unwind() {
	for t := n.tasks.first; t != nil; t = n.tasks.first {
		if !t.Started() {
			t.leave()
			continue
		}
		n.switchTo(t)
	}
}

// broke ends the node as a crash does, and notes the first reason.
func (n *node) broke(task string, r any) {
	if n.dead {
		return
	}
	n.err = &Broken{n.opts.ID, task, fmt.Sprint(r), string(debug.Stack())}
	n.dead, n.loop.over = true, true
	n.opts.Log.Error("the node ends", "task", task, "why", n.err.Message, "stack", n.err.Stack)
}

// fail ends the node before deferred functions of the running task could act.
func (n *node) fail(why string) {
	task := "inline"
	if n.running != nil {
		task = n.running.Name()
	}
	n.broke(task, why)
	panic(stoppedNode{})
}

// Run has fn run as a task of the node, and returns when it has ended. When ctx ends, the task is
// interrupted with errcode.Interrupted; Run still waits for its end. ErrStopped: the node stopped
// before fn ended, or before it began.
func (n *Node) Run(ctx context.Context, name string, fn func(env.Task)) error {
	ended := make(chan struct{})
	var whole bool
	var task env.Task
	started := n.n.loop.post(func() {
		n.n.Spawn(nil, name, func(t env.Task) {
			defer close(ended)
			task = t
			if err := ctx.Err(); err != nil {
				t.Interrupt(errcode.New(errcode.Interrupted, "%v", err))
			}
			fn(t)
			whole = true
		})
	})
	if !started {
		return ErrStopped
	}
	defer context.AfterFunc(ctx, func() {
		n.n.loop.post(func() {
			if task != nil {
				task.Interrupt(errcode.New(errcode.Interrupted, "%v", ctx.Err()))
			}
		})
	})()
	select {
	case <-ended:
	case <-n.n.done:
		select {
		case <-ended:
		default:
			return ErrStopped
		}
	}
	if !whole {
		return ErrStopped
	}
	return nil
}

// ID is the node's name.
func (n *Node) ID() env.NodeID { return n.n.opts.ID }

// Incarnation is 1 at the first start on a folder, and one more at each later one.
func (n *Node) Incarnation() int { return n.n.incarnation }

// Done is closed when the node has ended.
func (n *Node) Done() <-chan struct{} { return n.n.done }

// Err is why the node ended by itself, nil while it runs and when it was stopped.
func (n *Node) Err() error {
	select {
	case <-n.n.done:
		if n.n.err != nil {
			return n.n.err
		}
	default:
	}
	return nil
}

// Stop ends the node at once and waits until it has let go of its folder and addresses. To the
// other nodes, and to the disk, it looks like a crash; who wants to hand over does so before,
// in a task.
func (n *Node) Stop() {
	n.n.loop.post(func() { n.n.dead, n.n.loop.over = true, true })
	<-n.n.done
}
