package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/process"
)

// pollEvery is how often a state is asked for that is waited for.
const pollEvery = 50 * time.Millisecond

// running reports whether a process of the node has its folder, and its number.
func (p *plan) running(id env.NodeID) (pid int, is bool) {
	if !process.Locked(p.of(id)) {
		return 0, false
	}
	text, err := os.ReadFile(filepath.Join(p.of(id), process.PidFile))
	if err != nil {
		return 0, true
	}
	pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	return pid, true
}

// launch starts the process of a node, which outlives this one. What it logs goes to its log file.
func (p *plan) launch(id env.NodeID) error {
	file, err := p.writeConfig(id)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(p.of(id), logFile),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	child := &exec.Cmd{Path: program, Args: []string{os.Args[0], "cluster", "node", file},
		Stdout: log, Stderr: log, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := child.Start(); err != nil {
		return err
	}
	return child.Process.Release()
}

// ask asks a node for its status.
func (p *plan) ask(ctx context.Context, id env.NodeID) (*process.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	url := "http://" + address(p.Admin[id]) + "/status"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return nil, fmt.Errorf("%s answers: %s", id, strings.TrimSpace(string(why)))
	}
	s := &process.Status{}
	if err := json.NewDecoder(answer.Body).Decode(s); err != nil {
		return nil, err
	}
	if s.Node != id {
		return nil, fmt.Errorf("%s answers on the port of %s", s.Node, id)
	}
	return s, nil
}

// survey asks every node; those that do not answer are missing.
func (p *plan) survey(ctx context.Context) map[env.NodeID]*process.Status {
	all := make(map[env.NodeID]*process.Status)
	for _, id := range p.order {
		if s, err := p.ask(ctx, id); err == nil {
			all[id] = s
		}
	}
	return all
}

// primaries are the members that accept writes, by replica set.
func primaries(all map[env.NodeID]*process.Status) map[string]*process.Status {
	found := make(map[string]*process.Status)
	for _, s := range all {
		if s.Role == "primary" && (found[s.Set] == nil || s.Term > found[s.Set].Term) {
			found[s.Set] = s
		}
	}
	return found
}

// sets lists the replica sets.
func (p *plan) sets() []string {
	var all []string
	for _, id := range p.order {
		set, _, _ := strings.Cut(string(id), ".")
		if !isRouter(id) && (len(all) == 0 || all[len(all)-1] != set) {
			all = append(all, set)
		}
	}
	return all
}

// missing says what keeps the cluster from being whole; empty when nothing does.
func (p *plan) missing(all map[env.NodeID]*process.Status) string {
	led := primaries(all)
	var sets, nodes, parts []string
	for _, set := range p.sets() {
		if led[set] == nil {
			sets = append(sets, set)
		}
	}
	for _, id := range p.order {
		if s := all[id]; s == nil || s.Role == "recovering" {
			nodes = append(nodes, string(id))
		}
	}
	if len(sets) > 0 {
		parts = append(parts, "no primary in "+strings.Join(sets, ", "))
	}
	if len(nodes) > 0 {
		parts = append(parts, "no answer from "+strings.Join(nodes, ", "))
	}
	return strings.Join(parts, "; ")
}

// awaitEnd waits until no process has the node's folder.
func (p *plan) awaitEnd(ctx context.Context, id env.NodeID) error {
	for {
		if _, is := p.running(id); !is {
			return nil
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return fmt.Errorf("%s has not ended: %w", id, ctx.Err())
		}
	}
}

// signal sends a signal to the node's process; it does nothing when none runs.
func (p *plan) signal(id env.NodeID, s syscall.Signal) error {
	pid, is := p.running(id)
	for deadline := time.Now().Add(bootTime); is && pid <= 0; pid, is = p.running(id) {
		if time.Now().After(deadline) {
			return fmt.Errorf("a process uses the folder of %s, but has not written its process "+
				"ID yet; try again", id)
		}
		time.Sleep(pollEvery)
	}
	if !is {
		return nil
	}
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%s (process %d): %w", id, pid, err)
	}
	return nil
}
