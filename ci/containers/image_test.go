package containers

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/live/mongodb"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/live/process"
)

var image = flag.String("image", "", "attack a cluster of this image of MongoDB, such as mongo:8")

// TestImage attacks a cluster of an image of the user's choice: two shards of three, a config
// server of three, a router. It has not been run: no registry of images was at hand.
func TestImage(t *testing.T) {
	if *image == "" {
		t.Skip("name an image, such as -image mongo:8")
	}
	needDocker(t)
	ctx, cancel := context.WithTimeout(context.Background(), *lasts+15*time.Minute)
	defer cancel()
	c := startImage(ctx, t)
	d, err := mongodb.Connect(ctx, fmt.Sprintf("mongodb://127.0.0.1:%d/", c.ports["router.0"]), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := attack.Draw(attack.Params{
		Seed: *seed, Target: attack.TargetName, For: *lasts, Keys: 60, Rate: 200,
		Topology: scenario.Topology{Shards: 2, Members: 3, ConfigMembers: 3,
			Routers: 1, Clients: 6},
		Moves: 5 * time.Second, Between: 8 * time.Second,
		Faults: []string{"kill", "terminate", "stop", "partition"},
	})
	result, err := live.Run(ctx, live.Options{Schedule: s, System: d, Servers: c,
		Log: slog.New(slog.NewTextHandler(testWriter{t}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	judge(t, s, result)
}

// startImage starts the servers and makes a cluster of them.
func startImage(ctx context.Context, t *testing.T) *cluster {
	t.Helper()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = docker.Close() })
	c := &cluster{docker: docker, image: *image, ids: map[string]string{}, ports: map[string]int{},
		away: map[string]bool{}, top: process.Topology{Shards: 2, Members: 3}}
	if c.network, err = tcnetwork.New(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.network.Remove(context.Background()) })
	members := func(set string) (all []string) {
		for i := range 3 {
			all = append(all, fmt.Sprintf("%s.%d:27017", set, i))
		}
		return all
	}
	for set, role := range map[string]string{
		"config": "--configsvr", "shard-a": "--shardsvr", "shard-b": "--shardsvr",
	} {
		for i := range 3 {
			c.startMember(ctx, t, fmt.Sprintf("%s.%d", set, i), "mongod", role, "--replSet", set)
		}
		config := bson.A{}
		for i, host := range members(set) {
			config = append(config, bson.D{{Key: "_id", Value: i}, {Key: "host", Value: host}})
		}
		c.admin(ctx, t, set+".0", bson.D{{Key: "replSetInitiate", Value: bson.D{
			{Key: "_id", Value: set}, {Key: "members", Value: config},
		}}})
	}
	c.startMember(ctx, t, "router.0", "mongos", "--configdb",
		"config/"+strings.Join(members("config"), ","))
	for _, set := range []string{"shard-a", "shard-b"} {
		c.admin(ctx, t, "router.0", bson.D{{Key: "addShard",
			Value: set + "/" + strings.Join(members(set), ",")}})
	}
	return c
}

// startMember starts a server with a port of loopback.
func (c *cluster) startMember(ctx context.Context, t *testing.T, name string, command ...string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.ports[name] = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	request := testcontainers.ContainerRequest{
		Image: c.image, Cmd: append(command, "--bind_ip_all", "--port", "27017"),
		Networks:       []string{c.network.Name},
		NetworkAliases: map[string][]string{c.network.Name: {name}},
		ExposedPorts:   []string{clientPort},
		HostConfigModifier: func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{network.MustParsePort(clientPort): {{
				HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: fmt.Sprint(c.ports[name]),
			}}}
		},
	}
	one, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: request, Started: true,
	})
	if one != nil {
		t.Cleanup(func() { _ = testcontainers.TerminateContainer(one) })
	}
	if err != nil {
		t.Fatalf("the container of %s does not start: %v", name, err)
	}
	c.order = append(c.order, name)
	c.ids[name] = one.GetContainerID()
}

// admin runs a command on one server until it succeeds.
func (c *cluster) admin(ctx context.Context, t *testing.T, name string, command bson.D) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	one, err := mongo.Connect(options.Client().SetDirect(true).ApplyURI(
		fmt.Sprintf("mongodb://127.0.0.1:%d/", c.ports[name])))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Disconnect(context.Background())
	for {
		err := one.Database("admin").RunCommand(ctx, command).Err()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", name, err)
		case <-time.After(time.Second):
		}
	}
}
