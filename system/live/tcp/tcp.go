// Package tcp carries frames between the nodes of one cluster over TCP. A node dials every node it
// sends to, and is dialled by those that send to it; answers come back on the caller's connection.
//
// Promise: a request is executed at most once, and its caller learns of the end of the connection
// on which it was sent. One-way messages on one connection keep their order, and are dropped when
// there is no connection or too much waits to be written: nothing queues without a bound.
//
// Promise: bytes that are no frames, too long, or from another cluster end the connection they came
// on and nothing else. A connection costs no memory for bytes that it has not sent, and there are
// at most Limits.Connections of them.
//
// Promise: with a key, connections are TLS 1.3 in both directions with certificates that only
// holders of the key can make: strangers get no further than the handshake. Without a key,
// listening is possible on loopback only.
//
// Refusal: what a body says is not known here.
package tcp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits bound what peers can make a node do. The zero Limits are the defaults.
type Limits struct {
	// Body is the most bytes of one message. Zero: 256 MiB, as a follower that has fallen behind is
	// sent everything that its replica set stores.
	Body int
	// Connections are accepted at the same time. Zero: 1024.
	Connections int
	// Serving is how many requests of one connection are served at the same time; more are refused.
	// Zero: 4096.
	Serving int
	// Queue is how many bytes wait to be written to one peer; one-way messages beyond are dropped.
	// Zero: 64 MiB.
	Queue int
}

func (l *Limits) fill() {
	for _, limit := range []struct {
		n    *int
		zero int
	}{
		{&l.Body, 256 << 20}, {&l.Connections, 1024}, {&l.Serving, 4096}, {&l.Queue, 64 << 20},
	} {
		if *limit.n == 0 {
			*limit.n = limit.zero
		}
	}
}

// How long things may take: to connect and greet, to write what waits, and how soon a peer that
// could not be reached is tried again.
const (
	greetTimeout = 5 * time.Second
	writeTimeout = 30 * time.Second
	firstPause   = 20 * time.Millisecond
	lastPause    = time.Second
)

// keepAlive finds out about 10 seconds after its last word that a machine is gone.
var keepAlive = net.KeepAliveConfig{
	Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3,
}

// Config describes one node's end. Self and Handler are needed, and Log.
type Config struct {
	// Self is the node's name, and Cluster that of the cluster: nodes of another are refused.
	Self, Cluster string
	// Peers are the addresses of the nodes that can be sent to.
	Peers map[string]string
	// Key is the cluster's shared secret; empty: connections are neither secret nor authenticated.
	Key     []byte
	Limits  Limits
	Handler Handler
	Log     *slog.Logger
}

// Handler takes what arrives. Its methods are called from the goroutines of connections, Answered
// and Lost never for one request both. A connection is read on when they return: a sender who is
// faster than his receiver waits.
type Handler interface {
	// OneWay takes a message that nobody waits for.
	OneWay(from string, body []byte)
	// Request takes a request, which must be answered once.
	Request(from string, body []byte, answer *Answer)
	// Answered takes the answer to a request.
	Answered(id uint64, outcome Outcome, body []byte)
	// Lost says that a request will have no answer: it was not sent, or its connection ended.
	Lost(id uint64)
}

// Outcome is how a request was answered.
type Outcome byte

// The outcomes. The zero Outcome is none.
const (
	// Replied: the body is the reply.
	Replied Outcome = iota + 1
	// Failed: the body says why.
	Failed
	// Refused: nobody executed it.
	Refused
)

// ErrNeedsKey is why a node does not listen beyond loopback.
var ErrNeedsKey = errors.New("without a key file a node listens on loopback addresses only; " +
	"give every node of the cluster the same key file")

// Node is one node's end of all connections.
type Node struct {
	cfg     Config
	tls     *tls.Config
	peers   map[string]*peer
	accepts *acceptor
	// reading is the budget of long bodies of which a part has come.
	reading *semaphore.Weighted
}

// New starts nothing: connections are made when something is to be sent.
func New(cfg Config) (*Node, error) {
	cfg.Limits.fill()
	n := &Node{cfg: cfg, peers: make(map[string]*peer),
		reading: semaphore.NewWeighted(2 * int64(cfg.Limits.Body))}
	if len(cfg.Key) > 0 {
		own, err := certify(cfg.Key, cfg.Self)
		if err != nil {
			return nil, err
		}
		n.tls = own
	}
	for name, address := range cfg.Peers {
		n.peers[name] = newPeer(n, name, address)
	}
	return n, nil
}

// Serve accepts connections of l until Close, which closes l. ErrNeedsKey is among the errors.
func (n *Node) Serve(l net.Listener) error {
	if n.tls == nil && !isLoopback(l.Addr()) {
		return fmt.Errorf("%s cannot serve on %s: %w", n.cfg.Self, l.Addr(), ErrNeedsKey)
	}
	n.accepts = newAcceptor(n, l)
	go n.accepts.run()
	return nil
}

func isLoopback(a net.Addr) bool {
	address, ok := a.(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

// Send sends a one-way message, or drops it.
func (n *Node) Send(to string, body []byte) {
	if p := n.peers[to]; p != nil {
		p.enqueue(frame{kind: oneWay, body: body})
	}
}

// Request sends a request under an ID that the node uses once. Either Answered or Lost follows,
// unless it is forgotten before; Lost perhaps before Request returns.
func (n *Node) Request(to string, id uint64, body []byte) {
	p := n.peers[to]
	if p == nil || len(body) > n.cfg.Limits.Body || !p.enqueue(frame{request, id, body}) {
		n.cfg.Handler.Lost(id)
	}
}

// Forget says that nobody waits for the answer any more.
func (n *Node) Forget(to string, id uint64) {
	if p := n.peers[to]; p != nil {
		p.forget(id)
	}
}

// Close ends all connections. Nothing is handed to the Handler when it has returned.
func (n *Node) Close() {
	if n.accepts != nil {
		n.accepts.close()
	}
	for _, p := range n.peers {
		p.close()
	}
}
