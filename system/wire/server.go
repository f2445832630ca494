// Package wire serves a router's clients over MongoDB's wire protocol: it listens, reads messages,
// has tasks of the router's node answer them, and knows which user each connection belongs to.
//
// Promise: bytes are read and written here, outside of the node, which only answers. A malformed
// message ends its own connection with an error and affects no other; when a client disconnects,
// its request is interrupted, unless it wanted no answer. Clients that do not authenticate though
// they must hold no connection for long.
//
// Refusal: it decides nothing about data.
package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/dispatch"
)

// Runner runs tasks of the router's node.
type Runner interface {
	// Run has fn run as a task and returns when it has ended. When ctx ends, the task is
	// interrupted. An error says that the node has ended.
	Run(ctx context.Context, name string, fn func(env.Task)) error
}

// Config is what a Server is made from.
type Config struct {
	Runner Runner
	// Router is called in a task and returns the router of the node.
	Router func() *router.Router
	// Users may use the server; nil lets everyone in, and is refused on an address other than
	// loopback.
	Users *Users
	// TLS encrypts connections; nil does not.
	TLS *tls.Config
	// Connections is how many clients are served at a time, more are disconnected; 0 is
	// DefaultConnections.
	Connections int
	// Silence is how long a client that must authenticate and has not may send nothing; 0 is
	// DefaultSilence.
	Silence time.Duration
	// Logger logs what happens to connections; nil is slog.Default.
	Logger *slog.Logger
}

// What a Config says about the limits that it leaves open. Drivers watch over a server on
// connections on which they never authenticate, by a message every ten seconds unless they are told
// otherwise.
const (
	DefaultConnections = 10_000
	DefaultSilence     = 2 * time.Minute
)

// ErrOpenToAll refuses to listen on an address that is not loopback without authentication.
var ErrOpenToAll = errors.New(
	"without users the server listens on loopback only: give it a file of users")

// Server serves the clients of one router.
type Server struct {
	cfg   Config
	table *dispatch.Dispatcher
	conns sync.WaitGroup
}

// Serve serves the listener's connections until ctx ends, and then waits for them to close.
func Serve(ctx context.Context, l net.Listener, cfg Config) error {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	cfg.Connections = cmp.Or(cfg.Connections, DefaultConnections)
	cfg.Silence = cmp.Or(cfg.Silence, DefaultSilence)
	if cfg.Users == nil && !isLoopback(l.Addr()) {
		return ErrOpenToAll
	}
	s := &Server{cfg: cfg}
	err := cfg.Runner.Run(ctx, "wire.start", func(env.Task) {
		s.table = dispatch.New(deployment.Behind(cfg.Router()), cfg.Users != nil)
	})
	if err != nil {
		return err
	}
	if cfg.TLS != nil {
		l = tls.NewListener(l, cfg.TLS)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer s.conns.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	return s.accept(ctx, l)
}

// acceptPause is how long no connection is accepted after one could not be.
const acceptPause = 100 * time.Millisecond

// accept serves connections until ctx ends or the listener is closed.
func (s *Server) accept(ctx context.Context, l net.Listener) error {
	slots := make(chan struct{}, s.cfg.Connections)
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return closed(c)
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // such as too many open files; it may pass
			s.cfg.Logger.Warn("no client's connection was accepted", "error", err)
			rest(ctx, acceptPause)
			continue
		}
		select {
		case slots <- struct{}{}:
			s.conns.Go(func() {
				s.serve(ctx, c)
				<-slots
			})
		default:
			s.cfg.Logger.Debug("a client found all connections taken",
				"client", c.RemoteAddr(), "connections", s.cfg.Connections)
			_ = closed(c)
		}
	}
}

// closed closes a connection, if there is one, about which nothing can be done any more.
func closed(c net.Conn) error {
	if c != nil {
		_ = c.Close()
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func isLoopback(addr net.Addr) bool {
	host, _, err := net.SplitHostPort(addr.String())
	return err == nil && net.ParseIP(host).IsLoopback()
}

// serve answers one connection until it ends.
func (s *Server) serve(ctx context.Context, raw net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	defer func() { _ = raw.Close() }()
	c := newConnection(s, raw)
	err := c.run(ctx)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && ctx.Err() == nil {
		s.cfg.Logger.Debug("a client's connection ended", "client", raw.RemoteAddr(), "error", err)
	}
}
