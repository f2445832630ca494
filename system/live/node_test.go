package live_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/env/envtest"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/live"
)

// single is a running node without peers.
func single(t *testing.T, boot env.Boot) *live.Node {
	t.Helper()
	n, err := live.Start(live.Options{ID: "a", Boot: boot, Codec: envtest.Codec,
		Folder: filepath.Join(t.TempDir(), "a")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n
}

func nothing(env.Task) {}

// TestRun: goroutines have tasks run, whose waits end with their contexts.
func TestRun(t *testing.T) {
	n := single(t, nothing)
	counter := 0
	results := make(chan error)
	for range 10 {
		go func() {
			results <- n.Run(context.Background(), "count", func(t env.Task) {
				for range 100 {
					before := counter
					counter = before + 1
					_ = t.Yield(failpoint.ReplicaBeforeSync)
				}
			})
		}()
	}
	for range 10 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if counter != 1000 {
		t.Errorf("counted to %d", counter)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var ended error
	if err := n.Run(ctx, "park", func(t env.Task) { ended = t.Park(0) }); err != nil {
		t.Error(err)
	}
	if !errcode.Is(ended, errcode.Interrupted) {
		t.Errorf("the wait ended with %v", ended)
	}
	err := n.Run(ctx, "late", func(t env.Task) { ended = t.Sleep(0) })
	if err != nil || ended == nil {
		t.Errorf("a task whose context has ended waits: %v, %v", err, ended)
	}
}

// TestRunOfStoppedNode: a task that the end of its node cuts short is told of, as is one too late.
func TestRunOfStoppedNode(t *testing.T) {
	n := single(t, nothing)
	result := make(chan error)
	begun := make(chan bool)
	go func() {
		result <- n.Run(context.Background(), "park", func(t env.Task) {
			begun <- true
			_ = t.Park(0)
		})
	}()
	<-begun
	n.Stop()
	if err := <-result; !errors.Is(err, live.ErrStopped) {
		t.Errorf("the task ended with %v", err)
	}
	if err := n.Run(context.Background(), "late", nothing); !errors.Is(err, live.ErrStopped) {
		t.Errorf("a task of a stopped node ended with %v", err)
	}
	if err := n.Err(); err != nil {
		t.Errorf("a node that was stopped has failed: %v", err)
	}
}

// TestMistakes: each mistake ends the node at once, and says who made it; nothing of it has an
// effect any more.
func TestMistakes(t *testing.T) {
	for want, mistake := range map[string]func(t env.Task){
		"a (boot): one is two": func(t env.Task) {
			t.Node().Assert(false,
				"one is two")
		},
		"a (boot): cannot go on":            func(t env.Task) { t.Node().Abort("cannot go on") },
		"a (boot): out of order":            func(env.Task) { panic("out of order") },
		"a (boot): a choice k at s among 0": func(t env.Task) { t.Node().Choose("k", "s", 0) },
		"a (inline): late": func(t env.Task) {
			t.Node().After(0, func() { panic("late") })
			_ = t.Park(0)
		},
		"a (inline): task boot waits outside": func(t env.Task) {
			t.Node().After(0, func() { _ = t.Sleep(0) })
			_ = t.Park(0)
		},
		"a (boot): task boot spins": func(t env.Task) {
			t.Interrupt(errcode.New(errcode.Interrupted, "over"))
			for {
				_ = t.Sleep(0)
			}
		},
	} {
		n := single(t, func(t env.Task) {
			defer func() { _ = t.Node().Disk().Replace(t, "trace", nil) }()
			mistake(t)
		})
		<-n.Done()
		broken, ok := errors.AsType[*live.Broken](n.Err())
		if !ok || !strings.HasPrefix(broken.Error(), want) || broken.Stack == "" {
			t.Errorf("want %q, got %v", want, n.Err())
		}
	}
}

// TestFailpoints: terms switched on while a node runs hold a task or fail its step, and no other.
func TestFailpoints(t *testing.T) {
	n := single(t, nothing)
	site := failpoint.ReplicaBeforeSync
	pass := func() (err error, took time.Duration) {
		began := time.Now()
		ran := n.Run(context.Background(), "pass", func(t env.Task) {
			err = t.Point(site, env.Note{})
		})
		return errors.Join(ran, err), time.Since(began)
	}
	for _, c := range []struct {
		terms string
		want  errcode.Code
		took  time.Duration
	}{
		{`return("error=HostUnreachable")`, errcode.HostUnreachable, 0},
		{`return(true)`, errcode.FailPointEnabled, 0},
		{`sleep(30)`, "", 30 * time.Millisecond},
		{`1*return(true)->off`, errcode.FailPointEnabled, 0},
		{`off`, "", 0},
	} {
		if err := live.EnableFailpoint(site.String(), c.terms); err != nil {
			t.Fatal(err)
		}
		err, took := pass()
		if errcode.Of(err) != c.want {
			t.Errorf("%s: %v, want %v", c.terms, err, c.want)
		}
		if took < c.took {
			t.Errorf("%s: passed after %v", c.terms, took)
		}
	}
	if err := live.EnableFailpoint(site.String(), "pause"); err != nil {
		t.Fatal(err)
	}
	passed := make(chan error)
	go func() { err, _ := pass(); passed <- err }()
	other := func(t env.Task) { _ = t.Sleep(20 * time.Millisecond) }
	if err := n.Run(context.Background(), "other", other); err != nil {
		t.Error(err)
	}
	select {
	case <-passed:
		t.Error("a paused task goes on")
	default:
	}
	if err := live.DisableFailpoint(site.String()); err != nil {
		t.Fatal(err)
	}
	if err := <-passed; err != nil {
		t.Error(err)
	}
	if live.EnableFailpoint("no.such.site", "off") == nil {
		t.Error("an unknown site was taken")
	}
}

// TestRecordedSeed: the seed of a folder answers again what it answered before, but differently in
// every incarnation.
func TestRecordedSeed(t *testing.T) {
	folder := t.TempDir()
	answers := func() (line string) {
		n, err := live.Start(live.Options{
			ID: "a", Boot: nothing, Codec: envtest.Codec, Folder: folder,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Stop()
		err = n.Run(context.Background(), "ask", func(t env.Task) {
			for range 8 {
				line += fmt.Sprint(t.Node().Choose("kind", "site", 1000), " ")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	if a, b := answers(), answers(); a == b {
		t.Errorf("two incarnations answer alike: %s", a)
	}
}
