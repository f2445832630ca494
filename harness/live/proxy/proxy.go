// Package proxy is a TCP link that can be cut, held back and slowed, without privileges: the two
// ends are given the proxy's address instead of each other's.
//
// Promise: bytes arrive in order and unchanged, or not at all: a connection from which bytes were
// dropped is closed. Close ends every connection and goroutine.
//
// Refusal: it knows no protocol, and no single message.
package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Link forwards connections to one address.
type Link struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	state State
	// changed is closed and replaced when the state changes.
	changed chan struct{}
	open    map[*pair]bool
	closed  bool
	done    sync.WaitGroup
}

// State is what a link does to bytes. The zero State lets them pass.
type State struct {
	// Cut closes connections, and refuses new ones.
	Cut bool
	// Forth and Back say what happens to bytes from the side that connects, and to it.
	Forth, Back Way
}

// Way is what happens to bytes in one direction.
type Way struct {
	// Hold keeps them back.
	Hold bool
	// Delay is how late each piece is.
	Delay time.Duration
}

type pair struct{ client, server net.Conn }

func (p *pair) close() { _ = errors.Join(p.client.Close(), p.server.Close()) }

// Listen makes a link on a free port of loopback that forwards to an address.
func Listen(to string) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	link := &Link{listener: l, to: to, changed: make(chan struct{}), open: map[*pair]bool{}}
	link.done.Go(link.accept)
	return link, nil
}

// Address is where the link listens.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Set changes what the link does.
func (l *Link) Set(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
	close(l.changed)
	l.changed = make(chan struct{})
	if s.Cut {
		l.hangUp()
	}
}

// State is what the link does now.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Close ends the link.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	close(l.changed)
	l.changed = make(chan struct{})
	l.hangUp()
	l.mu.Unlock()
	err := l.listener.Close()
	l.done.Wait()
	return err
}

// hangUp closes all connections; the mutex is held.
func (l *Link) hangUp() {
	for p := range l.open {
		p.close()
	}
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.done.Go(func() { l.serve(client) })
	}
}

func (l *Link) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", l.to, 5*time.Second)
	if err != nil {
		_ = client.Close()
		return
	}
	p := &pair{client, server}
	defer p.close()
	l.mu.Lock()
	if l.closed || l.state.Cut {
		l.mu.Unlock()
		return
	}
	l.open[p] = true
	l.mu.Unlock()
	var ways sync.WaitGroup
	ways.Go(func() { l.copy(p, server, client, func(s State) Way { return s.Forth }) })
	ways.Go(func() { l.copy(p, client, server, func(s State) Way { return s.Back }) })
	ways.Wait()
	l.mu.Lock()
	delete(l.open, p)
	l.mu.Unlock()
}

// copy forwards one direction until an end closes.
func (l *Link) copy(p *pair, to io.Writer, from io.Reader, way func(State) Way) {
	defer p.close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && l.pass(way) {
			_, failed := to.Write(buffer[:n])
			err = errors.Join(err, failed)
		}
		if err != nil {
			return
		}
	}
}

// pass waits as long as the link holds bytes of a direction back; false means that the link was
// closed.
func (l *Link) pass(way func(State) Way) bool {
	for {
		l.mu.Lock()
		w, changed, closed := way(l.state), l.changed, l.closed
		l.mu.Unlock()
		switch {
		case closed:
			return false
		case w.Hold:
			<-changed
		case w.Delay > 0:
			time.Sleep(w.Delay)
			return true
		default:
			return true
		}
	}
}
