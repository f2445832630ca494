package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// inbox is a handler that echoes requests and notes the rest.
type inbox struct{ lines chan string }

func newInbox() *inbox { return &inbox{make(chan string, 1000)} }

func (b *inbox) OneWay(from string, body []byte) {
	b.lines <- "one-way " + from + " " + string(body)
}

func (b *inbox) Request(from string, body []byte, a *Answer) {
	switch string(body) {
	case "fail":
		a.Fail([]byte("failed"))
	case "refuse":
		a.Refuse()
	case "keep":
		b.lines <- "kept"
	default:
		a.Reply([]byte("echo " + string(body)))
		a.Reply([]byte("twice"))
	}
}

func (b *inbox) Answered(id uint64, o Outcome, body []byte) {
	b.lines <- fmt.Sprintf("answered %d %d %s", id, o, body)
}

func (b *inbox) Lost(id uint64) { b.lines <- fmt.Sprintf("lost %d", id) }

// next is the next line that the handler noted.
func (b *inbox) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-b.lines:
		return line
	case <-time.After(10 * time.Second):
		t.Fatal("nothing has come")
		return ""
	}
}

func (b *inbox) wants(t *testing.T, want string) {
	t.Helper()
	if got := b.next(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

var testKey = []byte(strings.Repeat("k", LeastKey))

func config(self string, key []byte, b *inbox) Config {
	return Config{Self: self, Cluster: "test", Key: key, Handler: b,
		Log: slog.New(slog.DiscardHandler)}
}

// served is a node that listens, with its handler and its address.
func served(t *testing.T, cfg Config) (*Node, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Serve(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, l.Addr().String()
}

// dialer is a node a that knows node b.
func dialer(t *testing.T, cfg Config, address string) *Node {
	t.Helper()
	cfg.Peers = map[string]string{"b": address}
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// TestRequests: every request is answered as its handler says, and lost when the connection ends.
func TestRequests(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "keyed": testKey} {
		t.Run(name, func(t *testing.T) {
			own, other := newInbox(), newInbox()
			b, address := served(t, config("b", key, other))
			a := dialer(t, config("a", key, own), address)
			a.Request("b", 1, []byte("hello"))
			own.wants(t, "answered 1 1 echo hello")
			a.Request("b", 2, []byte("fail"))
			own.wants(t, "answered 2 2 failed")
			a.Request("b", 3, []byte("refuse"))
			own.wants(t, "answered 3 3 ")
			a.Send("b", []byte("word"))
			other.wants(t, "one-way a word")
			a.Request("nowhere", 4, nil)
			own.wants(t, "lost 4")
			a.Request("b", 5, []byte("keep"))
			other.wants(t, "kept")
			b.Close()
			own.wants(t, "lost 5")
		})
	}
}

// sendingOnFailure is a log that counts failed attempts, and sends as soon as it is told of one.
type sendingOnFailure struct {
	slog.Handler
	failed chan struct{}
	send   func()
}

func (h *sendingOnFailure) Enabled(context.Context, slog.Level) bool { return true }

func (h *sendingOnFailure) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "not connected" {
		h.failed <- struct{}{}
		h.send()
	}
	return nil
}

// TestOneAttemptAtOnce: who sends while an attempt to connect ends in vain begins no other one,
// which the end of the first would take for its own. What is sent then is lost with the first.
func TestOneAttemptAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // nobody listens there any more
	own := newInbox()
	log := &sendingOnFailure{Handler: slog.DiscardHandler, failed: make(chan struct{}, 1000)}
	cfg := config("a", nil, own)
	cfg.Log = slog.New(log)
	a := dialer(t, cfg, l.Addr().String())
	log.send = func() { a.Request("b", 2, nil) }
	a.Request("b", 1, nil)
	own.wants(t, "lost 1")
	own.wants(t, "lost 2")
	a.Close()
	if n := len(log.failed); n != 1 {
		t.Errorf("%d attempts for what one has lost", n)
	}
}

// TestStrangers: who has another key, none, another name for the cluster or another name than the
// one dialled is not talked to.
func TestStrangers(t *testing.T) {
	stranger := []byte(strings.Repeat("s", LeastKey))
	for name, change := range map[string]func(a *Config){
		"another key":     func(a *Config) { a.Key = stranger },
		"no key":          func(a *Config) { a.Key = nil },
		"another cluster": func(a *Config) { a.Cluster = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			own, other := newInbox(), newInbox()
			_, address := served(t, config("b", testKey, other))
			cfg := config("a", testKey, own)
			change(&cfg)
			a := dialer(t, cfg, address)
			a.Request("b", 1, []byte("hello"))
			own.wants(t, "lost 1")
		})
	}
	own, other := newInbox(), newInbox()
	_, address := served(t, config("c", testKey, other))
	a := dialer(t, config("a", testKey, own), address)
	a.Request("b", 1, []byte("hello"))
	own.wants(t, "lost 1")
}

// anywhere is a listener that claims to be reachable from other machines.
type anywhere struct{ net.Listener }

func (anywhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }

// TestNeedsKey: off loopback a node without a key does not listen, nor one with a short key at all.
func TestNeedsKey(t *testing.T) {
	n, err := New(config("a", nil, newInbox()))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Serve(anywhere{}); !errors.Is(err, ErrNeedsKey) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := New(config("a", []byte("short"), newInbox())); err == nil {
		t.Error("a key of five bytes was taken")
	}
}

// TestHostileBytes: a connection that breaks the protocol ends, and others go on.
func TestHostileBytes(t *testing.T) {
	own, other := newInbox(), newInbox()
	cfg := config("b", nil, other)
	cfg.Limits.Body = 1 << 16
	_, address := served(t, cfg)
	greeting := appendFrame(nil, frame{kind: hello,
		body: []byte(`{"Version":"shardproof 1","Cluster":"test","Node":"h"}`)})
	long := appendFrame(nil, frame{kind: oneWay, body: make([]byte, 1<<17)})
	damaged := appendFrame(nil, frame{kind: oneWay, body: []byte("damaged")})
	damaged[len(damaged)-1]++
	for name, bytes := range map[string][]byte{
		"http":            []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"zeros":           make([]byte, 100),
		"a long greeting": appendFrame(nil, frame{kind: hello, body: make([]byte, 5000)}),
		"a long body":     append(greeting[:len(greeting):len(greeting)], long...),
		"a damaged body":  append(greeting[:len(greeting):len(greeting)], damaged...),
		"an answer": appendFrame(greeting[:len(greeting):len(greeting)],
			frame{kind: reply, id: 1}),
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = c.Write(bytes)
		if _, err := io.Copy(io.Discard, c); errors.Is(err, errTimeout(err)) {
			t.Errorf("%s: the connection stays open", name)
		}
		_ = c.Close()
	}
	a := dialer(t, config("a", nil, own), address)
	a.Request("b", 1, []byte("hello"))
	own.wants(t, "answered 1 1 echo hello")
}

// errTimeout is err when it is that of a deadline.
func errTimeout(err error) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return err
	}
	return errors.New("no timeout")
}

// TestTooMany: requests beyond the limit are refused, not queued.
func TestTooMany(t *testing.T) {
	own, other := newInbox(), newInbox()
	cfg := config("b", nil, other)
	cfg.Limits.Serving = 2
	_, address := served(t, cfg)
	a := dialer(t, config("a", nil, own), address)
	for id := range uint64(2) {
		a.Request("b", id, []byte("keep"))
		other.wants(t, "kept")
	}
	a.Request("b", 2, []byte("keep"))
	own.wants(t, "answered 2 3 ")
}

// FuzzConnection: no bytes on a connection end the node or keep it from serving others.
func FuzzConnection(f *testing.F) {
	other := newInbox()
	cfg := config("b", nil, other)
	cfg.Limits.Body = 1 << 16
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	b, err := New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	if err := b.Serve(l); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(b.Close)
	greeting := appendFrame(nil, frame{kind: hello,
		body: []byte(`{"Version":"shardproof 1","Cluster":"test","Node":"h"}`)})
	f.Add(greeting)
	f.Add(appendFrame(greeting[:len(greeting):len(greeting)], frame{request, 1, []byte("x")}))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(bytes)
		_ = c.(*net.TCPConn).CloseWrite()
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, errTimeout(err)) {
			t.Error("the connection stays open")
		}
		_ = c.Close()
		for len(other.lines) > 0 {
			<-other.lines
		}
	})
}
