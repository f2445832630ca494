package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/shardproof/shardproof/system/live/process"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/wire"
)

// access is who may be a client of the routers, and how.
type access struct {
	// Listen is the address on which routers listen for clients; empty is loopback.
	Listen string `json:"listen,omitempty"`
	// Users is a file of names and passwords; needed off loopback.
	Users string `json:"users,omitempty"`
	// Cert and Key are the certificate of the routers and its key, as PEM files; empty: no TLS.
	Cert string `json:"tlsCert,omitempty"`
	Key  string `json:"tlsKey,omitempty"`
}

// validate checks what can be known before a router starts.
func (a *access) validate() error {
	if (a.Cert == "") != (a.Key == "") {
		return errors.New("--tls-cert and --tls-key go together; give both or neither")
	}
	ip := net.ParseIP(a.host())
	if ip == nil {
		return fmt.Errorf("--listen takes an IP address, not %q", a.Listen)
	}
	if !ip.IsLoopback() && a.Users == "" {
		return fmt.Errorf("routers that listen on %s need --users FILE, with a line name:password "+
			"for each user", a.Listen)
	}
	_, _, err := a.open()
	return err
}

// absolute makes the paths independent of the folder in which a process starts.
func (a *access) absolute() (err error) {
	for _, path := range []*string{&a.Users, &a.Cert, &a.Key} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *access) host() string {
	if a.Listen == "" {
		return loopback
	}
	return a.Listen
}

// open reads the files.
func (a *access) open() (users *wire.Users, encryption *tls.Config, err error) {
	if a.Users != "" {
		file, err := os.Open(a.Users)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		if users, err = wire.ReadUsers(file); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", a.Users, err)
		}
	}
	if a.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("the certificate cannot be used: %w", err)
		}
		encryption = &tls.Config{MinVersion: tls.VersionTLS12,
			Certificates: []tls.Certificate{pair}}
	}
	return users, encryption, nil
}

// serveClients serves a router's clients over MongoDB's wire protocol.
func serveClients(ctx context.Context, c process.Clients) error {
	files := access{Users: c.Config.UsersFile, Cert: c.Config.TLSCert, Key: c.Config.TLSKey}
	users, encryption, err := files.open()
	if err != nil {
		return err
	}
	return wire.Serve(ctx, c.Listener, wire.Config{
		Runner: c.Node,
		Router: func() *router.Router { return c.Cluster.Router(c.Node.ID()) },
		Users:  users,
		TLS:    encryption,
		Logger: c.Log,
	})
}
