package processes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/process"
)

// node is one server and its process, if there is one.
type node struct {
	c                       *Cluster
	id, folder              string
	address, admin, clients string

	mu sync.Mutex
	// child is the process, nil when there is none; gone is closed when it has ended.
	child *exec.Cmd
	gone  chan struct{}
	// fated: it is expected to end. excused counts the faults that may end it.
	fated   bool
	excused int
	// offset is that of its clock, at the next start.
	offset string
}

func (n *node) set() string {
	set, _, _ := strings.Cut(n.id, ".")
	return set
}

func (n *node) router() bool { return n.set() == "router" }

// EventsFolder is the event log of a node.
func (c *Cluster) EventsFolder(id string) string {
	return filepath.Join(c.nodes[id].folder, process.EventsFolder)
}

// Nodes lists the servers.
func (c *Cluster) Nodes() []string { return c.order }

func (n *node) config() *process.Config {
	cfg := &process.Config{
		Cluster: "attack", Node: env.NodeID(n.id), Folder: n.folder, Topology: n.c.o.Topology,
		Settings: n.c.o.Settings, Admin: n.admin, Clients: n.clients, KeyFile: n.c.key,
		ClockOffset: n.offset, Nodes: map[env.NodeID]string{env.NodeID(n.id): n.address},
	}
	for _, to := range n.c.order {
		if to != n.id {
			cfg.Nodes[env.NodeID(to)] = n.c.links[[2]string{n.id, to}].Address()
		}
	}
	return cfg
}

// start starts the process.
func (n *node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.child != nil {
		return nil
	}
	if err := os.MkdirAll(n.folder, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(n.config(), "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(n.folder, "node.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(n.logFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	child := exec.Command(n.c.o.Program, "cluster", "node", file)
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = attributes()
	if err := child.Start(); err != nil {
		return fmt.Errorf("%s cannot be started: %w", n.id, err)
	}
	n.child, n.gone, n.fated = child, make(chan struct{}), false
	go n.await(child, n.gone)
	return nil
}

// await notes the end of a process.
func (n *node) await(child *exec.Cmd, gone chan struct{}) {
	err := child.Wait()
	n.mu.Lock()
	fated := n.fated || n.excused > 0
	n.child = nil
	n.mu.Unlock()
	if !fated {
		n.c.hasEnded(n.id, fmt.Sprintf("%v; %s", err, n.lastWords()))
	}
	close(gone)
}

func (n *node) logFile() string { return filepath.Join(n.folder, "log") }

// lastWords is the last line of the log.
func (n *node) lastWords() string {
	text, err := os.ReadFile(n.logFile())
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

func (n *node) running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.child != nil
}

// errDown says that the node's process does not run.
var errDown = errors.New("its process does not run")

// refusedError is a request that a process has answered with a refusal.
type refusedError struct{ node, status, why string }

// Error says who refused, and why.
func (e *refusedError) Error() string {
	return fmt.Sprintf("%s answers %s: %s", e.node, e.status, e.why)
}

// signal sends a signal. fate: the process is expected to end from now on.
func (n *node) signal(s syscall.Signal, fate bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.child == nil {
		return errDown
	}
	n.fated = n.fated || fate
	return n.child.Process.Signal(s)
}

// end sends a signal and waits for the end, killing it when that takes long.
func (n *node) end(s syscall.Signal) error {
	n.mu.Lock()
	gone := n.gone
	n.mu.Unlock()
	if err := n.signal(s, true); err != nil {
		return err
	}
	select {
	case <-gone:
	case <-time.After(15 * time.Second):
		_ = n.signal(syscall.SIGKILL, true)
		<-gone
	}
	return nil
}

// excuse changes how many faults there are that may end the process.
func (n *node) excuse(by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.excused += by
}

// kill ends the process if there is one.
func (n *node) kill() { _ = n.end(syscall.SIGKILL) }

// status asks the process.
func (n *node) status(ctx context.Context) (*process.Status, error) {
	if !n.running() {
		return nil, errDown
	}
	text, err := n.ask(ctx, http.MethodGet, "/status", "")
	if err != nil {
		return nil, err
	}
	s := &process.Status{}
	return s, json.Unmarshal(text, s)
}

// ask sends a request to the admin port.
func (n *node) ask(ctx context.Context, method, path, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+n.admin+path,
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = &refusedError{n.id, answer.Status, string(bytes.TrimSpace(text))}
	}
	return text, err
}
