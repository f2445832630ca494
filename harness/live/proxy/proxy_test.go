package proxy_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/live/proxy"
)

// echo answers with what it gets.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func listen(t *testing.T) *proxy.Link {
	t.Helper()
	l, err := proxy.Listen(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func dial(t *testing.T, l *proxy.Link) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

func say(t *testing.T, c net.Conn, line string) {
	t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn, want string) {
	t.Helper()
	if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || got != want+"\n" {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

// A link that is cut closes what is open and refuses what is new; afterwards it works again.
func TestCut(t *testing.T) {
	l := listen(t)
	c := dial(t, l)
	say(t, c, "one")
	hear(t, c, "one")
	l.Set(proxy.State{Cut: true})
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open although the link is cut")
	}
	refused := dial(t, l)
	if _, err := refused.Read(make([]byte, 1)); err == nil {
		t.Error("a new connection is open although the link is cut")
	}
	l.Set(proxy.State{})
	again := dial(t, l)
	say(t, again, "two")
	hear(t, again, "two")
}

// What a link holds back arrives when it is let go, in order; the other direction is its own.
func TestHold(t *testing.T) {
	l := listen(t)
	c := dial(t, l)
	l.Set(proxy.State{Back: proxy.Way{Hold: true}})
	say(t, c, "one")
	say(t, c, "two")
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes have arrived although they are held", n)
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	l.Set(proxy.State{})
	text := make([]byte, 8)
	if _, err := io.ReadFull(c, text); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("got %q, %v", text, err)
	}
}

// A slow link is as slow as it says.
func TestDelay(t *testing.T) {
	l := listen(t)
	c := dial(t, l)
	const late = 60 * time.Millisecond
	l.Set(proxy.State{Forth: proxy.Way{Delay: late}, Back: proxy.Way{Delay: late}})
	began := time.Now()
	say(t, c, "one")
	hear(t, c, "one")
	if took := time.Since(began); took < 2*late {
		t.Errorf("there and back took %s", took)
	}
}

// Close ends connections, also those from which bytes are held back.
func TestClose(t *testing.T) {
	l := listen(t)
	c := dial(t, l)
	l.Set(proxy.State{Forth: proxy.Way{Hold: true}})
	say(t, c, "one")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open although the link is closed")
	}
}
