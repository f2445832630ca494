package tcp

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// version is that of the frames and of what nodes send each other in them.
const version = "shardproof 1"

// greeting is the body of the first frame in each direction.
type greeting struct{ Version, Cluster, Node string }

// mostGreeting bounds the first frame, which comes before anything is known of its sender.
const mostGreeting = 1024

// dial connects to a peer.
func (n *Node) dial(ctx context.Context, name, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	raw, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	c := raw
	if n.tls != nil {
		c = tls.Client(raw, n.tls)
	}
	other, err := n.greet(c)
	if err == nil && other != name {
		err = fmt.Errorf("node %s answers at %s, the address of %s", other, address, name)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// welcome is the other side of dial: it returns the name of the node that has connected.
func (n *Node) welcome(c net.Conn) (net.Conn, string, error) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive)
	}
	if n.tls != nil {
		c = tls.Server(c, n.tls)
	}
	other, err := n.greet(c)
	return c, other, err
}

// greet sends this node's greeting and takes the other's.
func (n *Node) greet(c net.Conn) (other string, err error) {
	if err := c.SetDeadline(time.Now().Add(greetTimeout)); err != nil {
		return "", err
	}
	own, err := json.Marshal(greeting{version, n.cfg.Cluster, n.cfg.Self})
	if err != nil {
		return "", err
	}
	if _, err := c.Write(appendFrame(nil, frame{kind: hello, body: own})); err != nil {
		return "", err
	}
	f, err := readFrame(c, mostGreeting)
	if err != nil {
		return "", err
	}
	g, err := n.understand(f)
	if err != nil {
		return "", err
	}
	if secure, ok := c.(*tls.Conn); ok {
		if err := vouchedFor(secure, g.Node); err != nil {
			return "", err
		}
	}
	return g.Node, c.SetDeadline(time.Time{})
}

func (n *Node) understand(f frame) (g greeting, err error) {
	if f.kind != hello {
		return g, fmt.Errorf("%w: the first one is of kind %d", errFrame, f.kind)
	}
	if err := json.Unmarshal(f.body, &g); err != nil {
		return g, fmt.Errorf("%w: the greeting cannot be read: %w", errFrame, err)
	}
	switch {
	case g.Version != version:
		return g, fmt.Errorf("node %q speaks %q, this one %q", g.Node, g.Version, version)
	case g.Cluster != n.cfg.Cluster:
		return g, fmt.Errorf("node %q is of cluster %q, this one of %q", g.Node, g.Cluster,
			n.cfg.Cluster)
	case g.Node == "":
		return g, fmt.Errorf("%w: the greeting has no name", errFrame)
	}
	return g, nil
}
