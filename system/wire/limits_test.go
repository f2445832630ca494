package wire_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/wire"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/wiretest"
)

// served is a server of a cluster, whose clients are bare connections.
type served struct {
	*testing.T
	addr string
	ends chan error
}

// serve starts a server with a configuration and on a listener that the test has changed.
func serve(
	t *testing.T, change func(*wire.Config), listener func(net.Listener) net.Listener,
) *served {
	t.Helper()
	cluster, _, stop, err := wiretest.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{T: t, addr: l.Addr().String(), ends: make(chan error, 1)}
	if listener != nil {
		l = listener(l)
	}
	cfg := cluster.Config()
	change(&cfg)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { s.ends <- wire.Serve(ctx, l, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-s.ends, stop()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial is a connection of a client, on which nothing may take long.
func (s *served) dial() net.Conn {
	s.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *served) send(c net.Conn, cmd bson.D) {
	s.Helper()
	body := marshal(s.T, append(cmd, bson.E{Key: "$db", Value: "admin"}))
	if _, err := c.Write(frame.AppendReply(nil, &frame.Message{}, 1, body)); err != nil {
		s.Fatal(err)
	}
}

// ask is the answer to a command, nil when the server has disconnected the client.
func (s *served) ask(c net.Conn, cmd bson.D) bson.Raw {
	s.Helper()
	s.send(c, cmd)
	m, err := frame.Read(c, frame.MaxMessage)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	if err != nil {
		s.Fatal(err)
	}
	return m.Body
}

func (s *served) wantPing(c net.Conn) {
	s.Helper()
	answer := s.ask(c, bson.D{{Key: "ping", Value: 1}})
	if ok, _ := answer.Lookup("ok").DoubleOK(); ok != 1 {
		s.Errorf("a ping was answered with %v", answer)
	}
}

// failing is a listener that has no file descriptors left at first.
type failing struct {
	net.Listener
	left atomic.Int32
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

// TestAcceptFails: a server that could not accept a connection accepts the next one.
func TestAcceptFails(t *testing.T) {
	s := serve(t, func(*wire.Config) {}, func(l net.Listener) net.Listener {
		f := &failing{Listener: l}
		f.left.Store(2)
		return f
	})
	s.wantPing(s.dial())
}

// TestConnections: one client more than may be served is disconnected, until another has gone.
func TestConnections(t *testing.T) {
	s := serve(t, func(cfg *wire.Config) { cfg.Connections = 2 }, nil)
	first, second := s.dial(), s.dial()
	s.wantPing(first)
	s.wantPing(second)
	if _, err := s.dial().Read(make([]byte, 1)); err == nil {
		t.Error("a third client was served")
	}
	_ = first.Close()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c := s.dial()
		if _, err := c.Write(nil); err == nil && s.ask(c, bson.D{{Key: "ping", Value: 1}}) != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no client was served after one had gone")
		}
	}
	s.wantPing(second)
}

func someUsers(t *testing.T) *wire.Users {
	t.Helper()
	users, err := wire.ReadUsers(strings.NewReader("ann:secret\n"))
	if err != nil {
		t.Fatal(err)
	}
	return users
}

// TestSilence: a client that does not authenticate may watch over the server, but not be silent.
func TestSilence(t *testing.T) {
	const silence = 300 * time.Millisecond
	s := serve(t, func(cfg *wire.Config) { cfg.Users, cfg.Silence = someUsers(t), silence }, nil)
	silent, watching := s.dial(), s.dial()
	for range 4 {
		s.wantPing(watching)
		time.Sleep(silence / 3)
	}
	if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a silent client reads %v", err)
	}
	s.wantPing(watching)

	open := serve(t, func(cfg *wire.Config) { cfg.Silence = time.Millisecond }, nil)
	c := open.dial()
	time.Sleep(50 * time.Millisecond)
	open.wantPing(c)
}

// watch opens a change stream and returns the number of its cursor.
func (s *served) watch(c net.Conn) int64 {
	s.Helper()
	stream := s.ask(c, bson.D{{Key: "aggregate", Value: "docs"}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{}}}}}})
	id, ok := stream.Lookup("cursor", "id").Int64OK()
	if !ok {
		s.Fatalf("a change stream was answered with %v", stream)
	}
	return id
}

// await is a getMore that waits for ten minutes.
func await(id int64) bson.D {
	return bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "docs"},
		{Key: "maxTimeMS", Value: 600_000}}
}

// observed tells when the task of a command has ended.
type observed struct {
	wire.Runner
	name  string
	began chan struct{}
	ended chan struct{}
}

func (o *observed) Run(ctx context.Context, name string, fn func(env.Task)) error {
	if name != "wire."+o.name {
		return o.Runner.Run(ctx, name, fn)
	}
	close(o.began)
	defer close(o.ended)
	return o.Runner.Run(ctx, name, fn)
}

// TestDisconnect: the request of a client that has gone is interrupted.
func TestDisconnect(t *testing.T) {
	o := &observed{name: "getMore", began: make(chan struct{}), ended: make(chan struct{})}
	s := serve(t, func(cfg *wire.Config) { o.Runner, cfg.Runner = cfg.Runner, o }, nil)
	c := s.dial()
	s.send(c, await(s.watch(c)))
	<-o.began
	_ = c.Close()
	select {
	case <-o.ended:
	case <-time.After(20 * time.Second):
		t.Error("the getMore of a client that has gone goes on")
	}
}

// TestKillWhileRead: a cursor that waits for documents is killed, and what waits is told so.
func TestKillWhileRead(t *testing.T) {
	o := &observed{name: "getMore", began: make(chan struct{}), ended: make(chan struct{})}
	s := serve(t, func(cfg *wire.Config) { o.Runner, cfg.Runner = cfg.Runner, o }, nil)
	c, other := s.dial(), s.dial()
	id := s.watch(c)
	s.send(c, await(id))
	<-o.began
	time.Sleep(100 * time.Millisecond)
	kill := bson.D{{Key: "killCursors", Value: "docs"}, {Key: "cursors", Value: bson.A{id}}}
	answer := s.ask(other, kill)
	if got, _ := answer.Lookup("cursorsKilled", "0").Int64OK(); got != id {
		t.Errorf("killCursors was answered with %v", answer)
	}
	m, err := frame.Read(c, frame.MaxMessage)
	if err != nil {
		t.Fatal(err)
	}
	const cursorKilled = 237
	if code, _ := m.Body.Lookup("code").Int32OK(); code != cursorKilled {
		t.Errorf("the getMore was answered with %v", m.Body)
	}
	answer = s.ask(other, kill)
	if got, _ := answer.Lookup("cursorsNotFound", "0").Int64OK(); got != id {
		t.Errorf("the second killCursors was answered with %v", answer)
	}
}

// certificate is one that its holder has signed.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// TestSlowRequests: a connection goes on after requests that took long, also with what its client
// had sent meanwhile.
func TestSlowRequests(t *testing.T) {
	for name, config := range map[string]*tls.Config{
		"plain": nil, "TLS": {Certificates: []tls.Certificate{certificate(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(cfg *wire.Config) { cfg.TLS = config }, nil)
			c := s.dial()
			if config != nil {
				c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
			}
			s.ask(c, bson.D{{Key: "configureFailPoint", Value: "failCommand"},
				{Key: "mode", Value: bson.D{{Key: "times", Value: 2}}},
				{Key: "data", Value: bson.D{{Key: "failCommands", Value: bson.A{"ping"}},
					{Key: "blockConnection", Value: true}, {Key: "blockTimeMS", Value: 300}}}})
			s.wantPing(c)
			s.send(c, bson.D{{Key: "ping", Value: 1}})
			s.wantPing(c) // the answer is that to the ping before
			s.wantPing(c)
		})
	}
}

// TestLogout: who has logged out must authenticate again.
func TestLogout(t *testing.T) {
	s := serve(t, func(cfg *wire.Config) { cfg.Users = someUsers(t) }, nil)
	c := s.dial()
	s.authenticate(c, "ann", "secret")
	list := bson.D{{Key: "listDatabases", Value: 1}}
	const unauthorized = 13
	for _, want := range []int32{0, unauthorized} {
		answer := s.ask(c, list)
		if code, _ := answer.Lookup("code").Int32OK(); code != want {
			t.Errorf("%v was answered with %v, not with code %d", list, answer, want)
		}
		s.ask(c, bson.D{{Key: "logout", Value: 1}})
	}
}

// authenticate has a client log in.
func (s *served) authenticate(c net.Conn, user, password string) {
	s.Helper()
	client, err := scram.SHA256.NewClient(user, password, "")
	if err != nil {
		s.Fatal(err)
	}
	talk, said := client.NewConversation(), ""
	for name := "saslStart"; !talk.Done(); name = "saslContinue" {
		says, err := talk.Step(said)
		if err != nil {
			s.Fatal(err)
		}
		answer := s.ask(c, bson.D{{Key: name, Value: 1}, {Key: "mechanism", Value: "SCRAM-SHA-256"},
			{Key: "payload", Value: bson.Binary{Data: []byte(says)}}})
		_, payload, ok := answer.Lookup("payload").BinaryOK()
		if !ok {
			s.Fatalf("%s was answered with %v", name, answer)
		}
		said = string(payload)
	}
}
