package tcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// acceptor takes connections of other nodes.
type acceptor struct {
	node     *Node
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	slots    chan struct{}
}

func newAcceptor(n *Node, l net.Listener) *acceptor {
	a := &acceptor{node: n, listener: l, slots: make(chan struct{}, n.cfg.Limits.Connections)}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.running.Add(1)
	return a
}

func (a *acceptor) run() {
	defer a.running.Done()
	for a.ctx.Err() == nil {
		c, err := a.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files; it may pass
			a.node.cfg.Log.Warn("no connection accepted", "why", err)
			a.rest(firstPause)
			continue
		}
		select {
		case a.slots <- struct{}{}:
			a.running.Go(func() {
				a.serve(c)
				<-a.slots
			})
		default:
			_ = c.Close()
		}
	}
}

func (a *acceptor) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-a.ctx.Done():
	}
}

func (a *acceptor) close() {
	a.cancel()
	_ = a.listener.Close()
	a.running.Wait()
}

// serve is the life of one connection.
func (a *acceptor) serve(raw net.Conn) {
	defer raw.Close()
	defer context.AfterFunc(a.ctx, func() { _ = raw.Close() })()
	c, from, err := a.node.welcome(raw)
	if err != nil {
		a.node.cfg.Log.Warn("a connection was refused", "address", raw.RemoteAddr(), "why", err)
		return
	}
	in := &incoming{node: a.node, conn: c, from: from, wake: make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(a.ctx)
	var writing sync.WaitGroup
	writing.Go(func() {
		in.write(ctx)
		_ = raw.Close()
	})
	err = in.read(ctx)
	stop()
	_ = raw.Close()
	writing.Wait()
	if errors.Is(err, errFrame) {
		a.node.cfg.Log.Warn("a connection broke the protocol", "peer", from, "why", err)
	}
}

// incoming is a connection that another node has made.
type incoming struct {
	node *Node
	conn net.Conn
	from string

	mu      sync.Mutex
	queue   []byte
	serving int
	ended   bool
	wake    chan struct{}
}

// read hands out messages and requests until the connection ends.
func (in *incoming) read(ctx context.Context) error {
	r := bufio.NewReaderSize(in.conn, firstPiece)
	for {
		h, err := readHead(r, in.node.cfg.Limits.Body)
		if err != nil {
			return err
		}
		if err := in.take(ctx, r, &h); err != nil {
			return err
		}
	}
}

// take reads the body of a frame and hands it out. Long bodies share a budget of memory, and must
// come in time, so that a slow sender does not keep it from others.
func (in *incoming) take(ctx context.Context, r io.Reader, h *head) error {
	if h.length > firstPiece {
		if err := in.node.reading.Acquire(ctx, int64(h.length)); err != nil {
			return err
		}
		defer in.node.reading.Release(int64(h.length))
		limit := bodyTimeout + time.Duration(h.length/leastRate)*time.Second
		if err := in.conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		defer in.conn.SetReadDeadline(time.Time{})
	}
	f, err := h.readBody(r)
	if err != nil {
		return err
	}
	switch f.kind {
	case oneWay:
		in.node.cfg.Handler.OneWay(in.from, f.body)
	case request:
		in.request(f)
	default:
		return fmt.Errorf("%w: kind %d is not for those who dial", errFrame, f.kind)
	}
	return nil
}

// A long body must come within bodyTimeout, and a second more for each leastRate bytes of it.
const (
	bodyTimeout = 5 * time.Second
	leastRate   = 1 << 20
)

func (in *incoming) request(f frame) {
	in.mu.Lock()
	in.serving++
	tooMany := in.serving > in.node.cfg.Limits.Serving
	in.mu.Unlock()
	a := &Answer{in: in, id: f.id}
	if tooMany {
		a.Refuse()
		return
	}
	in.node.cfg.Handler.Request(in.from, f.body, a)
}

// write sends answers until ctx ends or the connection does.
func (in *incoming) write(ctx context.Context) {
	defer func() {
		in.mu.Lock()
		in.ended, in.queue = true, nil
		in.mu.Unlock()
	}()
	for {
		in.mu.Lock()
		batch := in.queue
		in.queue = nil
		in.mu.Unlock()
		if len(batch) == 0 {
			select {
			case <-in.wake:
			case <-ctx.Done():
				return
			}
			continue
		}
		if in.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
			return
		}
		if _, err := in.conn.Write(batch); err != nil {
			return
		}
	}
}

// Answer is how a request is answered. Its methods may be called from any goroutine; the first call
// counts.
type Answer struct {
	in   *incoming
	id   uint64
	once sync.Once
}

// Reply answers with a message.
func (a *Answer) Reply(body []byte) { a.send(reply, body) }

// Fail answers with an error.
func (a *Answer) Fail(body []byte) { a.send(failure, body) }

// Refuse says that the request was not executed.
func (a *Answer) Refuse() { a.send(refusal, nil) }

func (a *Answer) send(kind Kind, body []byte) {
	a.once.Do(func() {
		in := a.in
		in.mu.Lock()
		defer in.mu.Unlock()
		in.serving--
		if in.ended {
			return
		}
		if len(body) > in.node.cfg.Limits.Body {
			kind, body = refusal, nil // its receiver would end the connection
		}
		in.queue = appendFrame(in.queue, frame{kind, a.id, body})
		select {
		case in.wake <- struct{}{}:
		default: // the writer knows already
		}
	})
}
