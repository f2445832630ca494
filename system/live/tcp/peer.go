package tcp

import (
	"bufio"
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// peer is the way to one other node: at most one connection, made when there is something to send.
type peer struct {
	node          *Node
	name, address string
	ctx           context.Context
	cancel        context.CancelFunc
	running       sync.WaitGroup

	mu sync.Mutex
	// queue is what waits to be written, waiting the requests that have no answer yet.
	queue   []byte
	waiting map[uint64]bool
	// conn is the present connection; dialling is set while there is none yet.
	conn     net.Conn
	dialling bool
	wake     chan struct{}
	// After a failure nothing is sent until then.
	until time.Time
	pause time.Duration
}

func newPeer(n *Node, name, address string) *peer {
	p := &peer{node: n, name: name, address: address, waiting: make(map[uint64]bool),
		wake: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// enqueue has a frame written; false when it will not be.
func (p *peer) enqueue(f frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := len(p.queue) > 0 && len(p.queue)+len(f.body) > p.node.cfg.Limits.Queue
	if full || p.ctx.Err() != nil || !p.connecting() {
		return false
	}
	p.queue = appendFrame(p.queue, f)
	if f.kind == request {
		p.waiting[f.id] = true
	}
	select {
	case p.wake <- struct{}{}:
	default: // the writer knows already
	}
	return true
}

// connecting reports whether there is a connection or soon will be.
func (p *peer) connecting() bool {
	if p.conn != nil || p.dialling {
		return true
	}
	if time.Now().Before(p.until) {
		return false
	}
	p.dialling = true
	p.running.Go(p.live)
	return true
}

// live is the life of one connection.
func (p *peer) live() {
	c, err := p.node.dial(p.ctx, p.name, p.address)
	if err != nil {
		p.ended(err)
		return
	}
	p.node.cfg.Log.Debug("connected", "peer", p.name, "address", p.address)
	p.mu.Lock()
	p.conn, p.dialling, p.pause = c, false, 0
	p.mu.Unlock()
	ctx, stop := context.WithCancel(p.ctx)
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	var writing sync.WaitGroup
	writing.Go(func() {
		if p.write(ctx, c) != nil {
			_ = c.Close()
		}
	})
	err = p.read(c)
	stop()
	_ = c.Close()
	writing.Wait()
	p.ended(err)
}

// write sends what is queued until ctx ends.
func (p *peer) write(ctx context.Context, c net.Conn) error {
	var spare []byte
	for {
		batch := p.take(spare)
		if batch == nil {
			select {
			case <-p.wake:
			case <-ctx.Done():
				return nil
			}
			continue
		}
		if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if _, err := c.Write(batch); err != nil {
			return err
		}
		if spare = batch; cap(spare) > mostSpare {
			spare = nil
		}
	}
}

// take is what is queued, nil when nothing is; then spare is still the caller's, else it is the
// memory of the next queue.
func (p *peer) take(spare []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil
	}
	batch := p.queue
	p.queue = spare[:0]
	return batch
}

// mostSpare bounds the memory of a queue that a connection keeps while nothing is sent.
const mostSpare = 1 << 20

// read hands out answers until the connection ends.
func (p *peer) read(c net.Conn) error {
	r := bufio.NewReaderSize(c, firstPiece)
	for {
		f, err := readFrame(r, p.node.cfg.Limits.Body)
		if err != nil {
			return err
		}
		outcome := map[Kind]Outcome{reply: Replied, failure: Failed, refusal: Refused}[f.kind]
		if outcome == 0 {
			return errFrame
		}
		if p.forget(f.id) {
			p.node.cfg.Handler.Answered(f.id, outcome, f.body)
		}
	}
}

// forget reports whether the request was waiting.
func (p *peer) forget(id uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.waiting[id]
	delete(p.waiting, id)
	return was
}

// ended fails everything that waits, and has the next attempt wait longer than this one did. Until
// then this one counts, also if it was in vain: of two at once, each would end what is the other's.
func (p *peer) ended(err error) {
	p.node.cfg.Log.Debug("not connected", "peer", p.name, "address", p.address, "why", err)
	p.mu.Lock()
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	p.until = time.Now().Add(p.pause)
	p.conn, p.dialling, p.queue = nil, false, nil
	var lost []uint64
	for id := range p.waiting {
		lost = append(lost, id)
	}
	clear(p.waiting)
	p.mu.Unlock()
	slices.Sort(lost)
	for _, id := range lost {
		p.node.cfg.Handler.Lost(id)
	}
}

func (p *peer) close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.running.Wait()
}
