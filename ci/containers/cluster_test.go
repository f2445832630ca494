package containers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/live/process"
)

// The inside of a container: nothing but the program, what it is configured by, and what it stores.
const (
	nodePort   = 7000
	clientPort = "27017/tcp"
	dockerfile = "FROM scratch\nCOPY shardproof /shardproof\nENTRYPOINT [\"/shardproof\"]\n"
	user       = "attack"
)

// cluster is one in containers, a live.Servers.
type cluster struct {
	docker  *testcontainers.DockerClient
	network *testcontainers.DockerNetwork
	image   string
	top     process.Topology
	order   []string
	// ids are the containers, ports those of the routers on the host.
	ids   map[string]string
	ports map[string]int

	mu sync.Mutex
	// away are the nodes that are not in the network.
	away map[string]bool
}

var _ live.Servers = (*cluster)(nil)

// startCluster builds the image and starts a container for each node.
func startCluster(ctx context.Context, t *testing.T, top process.Topology,
	settings map[string]string,
) *cluster {
	t.Helper()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = docker.Close() })
	c := &cluster{docker: docker, top: top, ids: map[string]string{}, ports: map[string]int{},
		away: map[string]bool{}}
	c.image = buildImage(ctx, t)
	if c.network, err = tcnetwork.New(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.network.Remove(context.Background()) })
	all, err := top.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("%x%x%x", rand.Uint64(), rand.Uint64(), rand.Uint64())
	for _, id := range all {
		c.order = append(c.order, string(id))
		c.start(ctx, t, id, settings, key)
	}
	return c
}

// buildImage has the engine build an image of the static program alone.
func buildImage(ctx context.Context, t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o",
		filepath.Join(dir, "shardproof"), "./cmd/shardproof")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the program does not build: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"),
		[]byte(dockerfile), 0o644); err != nil {
		t.Fatal(err)
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	image, err := provider.BuildImage(ctx, &testcontainers.ContainerRequest{
		FromDockerfile: testcontainers.FromDockerfile{Context: dir, Repo: "shardproof-attack",
			Tag: fmt.Sprintf("%x", rand.Uint32())},
	})
	if err != nil {
		t.Fatalf("the image does not build: %v", err)
	}
	t.Cleanup(func() {
		_ = exec.Command("docker", "image", "rm", "--force", image).Run()
	})
	return image
}

// configOf is the configuration of a node. It listens on all addresses of its container, whose
// network nobody else is in, and finds the others by name.
func (c *cluster) configOf(id env.NodeID, settings map[string]string) *process.Config {
	cfg := &process.Config{Cluster: "containers", Node: id, Folder: "/data", KeyFile: "/key",
		Topology: c.top, Settings: settings, Nodes: map[env.NodeID]string{}}
	all, _ := c.top.Nodes()
	for _, other := range all {
		cfg.Nodes[other] = fmt.Sprintf("%s:%d", other, nodePort)
	}
	cfg.Nodes[id] = fmt.Sprintf("0.0.0.0:%d", nodePort)
	if cfg.IsRouter() {
		cfg.Clients, cfg.UsersFile = "0.0.0.0:27017", "/users"
	}
	return cfg
}

func (c *cluster) start(ctx context.Context, t *testing.T, id env.NodeID,
	settings map[string]string, key string,
) {
	t.Helper()
	cfg := c.configOf(id, settings)
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	file := func(path, content string) testcontainers.ContainerFile {
		return testcontainers.ContainerFile{Reader: strings.NewReader(content),
			ContainerFilePath: path, FileMode: 0o600}
	}
	name := string(id)
	request := testcontainers.ContainerRequest{
		Image: c.image, Cmd: []string{"cluster", "node", "/node.json"},
		Networks:       []string{c.network.Name},
		NetworkAliases: map[string][]string{c.network.Name: {name}},
		Files: []testcontainers.ContainerFile{file("/node.json", string(text)),
			file("/key", key), file("/users", user+":"+user+"\n")},
	}
	if cfg.IsRouter() {
		c.publish(t, name, &request)
	}
	one, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: request, Started: true,
	})
	if one != nil {
		t.Cleanup(func() {
			if t.Failed() {
				c.lastWords(t, name, one)
			}
			_ = testcontainers.TerminateContainer(one)
		})
	}
	if err != nil {
		t.Fatalf("the container of %s does not start: %v", id, err)
	}
	c.ids[name] = one.GetContainerID()
}

// publish makes a router's port one of loopback, the same after each restart.
func (c *cluster) publish(t *testing.T, name string, r *testcontainers.ContainerRequest) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c.ports[name] = l.Addr().(*net.TCPAddr).Port
	r.ExposedPorts = []string{clientPort}
	r.HostConfigModifier = func(h *container.HostConfig) {
		h.PortBindings = network.PortMap{network.MustParsePort(clientPort): {{
			HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: fmt.Sprint(c.ports[name]),
		}}}
	}
}

// lastWords shows the end of a container's log.
func (c *cluster) lastWords(t *testing.T, name string, one testcontainers.Container) {
	logs, err := one.Logs(context.Background())
	if err != nil {
		return
	}
	defer logs.Close()
	text, _ := io.ReadAll(logs)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	t.Logf("%s: %s", name, bytes.Join(lines[max(0, len(lines)-3):], []byte("\n")))
}

func (c *cluster) uri() string {
	var hosts []string
	for _, id := range c.order {
		if port := c.ports[id]; port != 0 {
			hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", port))
		}
	}
	return fmt.Sprintf("mongodb://%s:%s@%s/", user, user, strings.Join(hosts, ","))
}

// Faults implements live.Servers.
func (c *cluster) Faults() []string {
	return []string{"kill", "terminate", "stop", "partition", attack.StepDown}
}

// Resolve implements live.Servers. Nobody outside of a container knows who leads, so a primary is
// any member.
func (c *cluster) Resolve(_ context.Context, role string) (string, error) {
	if _, is := c.ids[role]; is {
		return role, nil
	}
	set, _, _ := strings.Cut(role, ".")
	var members []string
	for _, id := range c.order {
		if strings.HasPrefix(id, set+".") {
			members = append(members, id)
		}
	}
	if len(members) == 0 {
		return "", fmt.Errorf("there is no replica set %q", set)
	}
	return members[rand.IntN(len(members))], nil
}

// Inject implements live.Servers.
func (c *cluster) Inject(ctx context.Context, f *live.Fault) (func(context.Context) error, error) {
	ctx = context.WithoutCancel(ctx)
	id := c.ids[f.Node]
	switch f.Kind.Name {
	case "kill":
		_, err := c.docker.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
		return c.again(id), err
	case "terminate":
		_, err := c.docker.ContainerStop(ctx, id, client.ContainerStopOptions{})
		return c.again(id), err
	case "stop":
		_, err := c.docker.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		return func(ctx context.Context) error {
			_, err := c.docker.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
			return err
		}, err
	case "partition":
		err := c.disconnect(ctx, f.Node)
		return func(ctx context.Context) error { return c.connect(ctx, f.Node) }, err
	}
	return nil, fmt.Errorf("containers cannot be attacked by %s", f.Kind.Name)
}

func (c *cluster) again(id string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.docker.ContainerStart(ctx, id, client.ContainerStartOptions{})
		return err
	}
}

func (c *cluster) disconnect(ctx context.Context, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away[node] {
		return errors.New("it is cut off already")
	}
	_, err := c.docker.NetworkDisconnect(ctx, c.network.ID, client.NetworkDisconnectOptions{
		Container: c.ids[node], Force: true})
	c.away[node] = err == nil
	return err
}

func (c *cluster) connect(ctx context.Context, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.away[node] {
		return nil
	}
	_, err := c.docker.NetworkConnect(ctx, c.network.ID, client.NetworkConnectOptions{
		Container:      c.ids[node],
		EndpointConfig: &network.EndpointSettings{Aliases: []string{node}},
	})
	c.away[node] = err != nil
	return err
}

// Settle implements live.Servers: every container runs and is in the network. Whether the cluster
// serves is seen by the final reads.
func (c *cluster) Settle(ctx context.Context) error {
	for _, node := range c.order {
		if err := c.connect(ctx, node); err != nil {
			return err
		}
		_, err := c.docker.ContainerStart(ctx, c.ids[node], client.ContainerStartOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", node, err)
		}
	}
	return nil
}

// Ended implements live.Servers. An exit code of 4 is that of a process that must not go on.
func (c *cluster) Ended() (all []attack.Ended) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, node := range c.order {
		one, err := c.docker.ContainerInspect(ctx, c.ids[node], client.ContainerInspectOptions{})
		if err == nil && !one.Container.State.Running {
			all = append(all, attack.Ended{Node: node,
				Why: fmt.Sprintf("exit code %d", one.Container.State.ExitCode)})
		}
	}
	return all
}
