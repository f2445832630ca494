package protocoltest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/sim"
)

// requestLimit is how long a script waits for the answer to a request, in the time of the world.
const requestLimit = 2 * time.Minute

// Verbs are the commands of a script by name.
type Verbs map[string]func(Line) error

// Servers are the replica sets on a stage.
type Servers interface {
	// Member is the process on a node, nil while it is down or when it is none of a replica set.
	Member(env.NodeID) *replset.Member
	// Primary is the node that leads a set, empty when there is none.
	Primary(set string) env.NodeID
	// MembersOf are the nodes of a set, none when there is no such set.
	MembersOf(set string) []env.NodeID
}

// Stage is a simulated world that a script controls: faults, lost messages, cut links, requests
// that are waited for, and the text of what has happened since the last line. What stands on it, a
// whole cluster or one server among simulated neighbours, is up to the rig that embeds it.
type Stage struct {
	// World is nil until Open.
	World *sim.World
	// Servers are those that "crash", "stepdown" and "cut" name; nil when there is no replica set.
	Servers Servers
	// Verbs are executed at once. Requests are sent by somebody and waited for.
	Verbs, Requests Verbs

	out        strings.Builder
	unanswered int  // requests
	waited     *int // those of the present line that are not answered
	faults
	messages
}

// NewStage returns a stage with the verbs that every script may use, and no world yet.
func NewStage() *Stage {
	s := &Stage{Requests: Verbs{}, waited: new(int)}
	s.Verbs = Verbs{
		// wait 50ms: lets time go by. await: until every request is answered.
		"wait":  func(l Line) error { return s.Pass(duration(l.Word(0))) },
		"await": func(Line) error { return s.Await() },
		// fault SITE [nth=2] [node=shard-a]
		// do=crash|error[:Code]|pause:50ms|kill|stepdown|outlast|cut|hold|pass: what happens when a
		// node whose name begins so passes the site. Who is held waits for release, who is cut off
		// for heal; pass only prints that it was there. A task that outlasts its term waits until
		// its node has lost the lead, and then goes on as if nothing had happened.
		"fault": s.fault,
		// release [SITE...]: lets those go on that are held, at these sites or at all. With await,
		// until every request is answered.
		"release": s.release,
		// cut shard-a.0: nothing gets through between it and anybody else. The members of a set
		// hear one another, unless it is "cut config.0 peers": then it is cut off from them alone.
		"cut":  s.cut,
		"heal": s.heal,
		// crash shard-a, stepdown shard-a: the primary, or the node that is named; restart: what is
		// down.
		"crash":    s.crash,
		"stepdown": s.stepDownPrimary,
		"restart":  s.restart,
		// lose KIND: the next message of the kind is lost; with reply it is executed, and its
		// answer lost.
		"lose": s.lose,
	}
	return s
}

// Open makes the stage's world, with the stage's faults in it; a world that there was is
// closed.
func (s *Stage) Open(opts sim.Options) {
	s.Close()
	opts.Codec, opts.OnPoint = codec.BSON, s.onPoint
	s.World = sim.New(opts)
	s.unanswered, s.waited = 0, new(int)
	s.faults = faults{Act: s.Act, Reached: s.Reached, down: map[env.NodeID]bool{}}
	s.messages = messages{sent: map[string][]sent{}}
}

// Close ends the world, if there is one.
func (s *Stage) Close() {
	if s.World != nil {
		s.World.Close()
	}
}

// Say adds a line to what has happened.
func (s *Stage) Say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// Happened is what was said since it was last called.
func (s *Stage) Happened() string {
	defer s.out.Reset()
	return s.out.String()
}

// Send has a node run a request, and counts it among those to be answered until it returns.
func (s *Stage) Send(from env.NodeID, name string, do func(env.Task)) {
	mine := s.waited
	s.unanswered++
	*mine++
	s.World.Node(from).Spawn(nil, name, func(t env.Task) {
		do(t)
		s.unanswered--
		*mine--
	})
}

// Answered reports whether no request is outstanding.
func (s *Stage) Answered() bool { return s.unanswered == 0 }

// Await runs the world until every request is answered.
func (s *Stage) Await() error {
	return s.Until(requestLimit, "every request is answered", s.Answered)
}

// Until runs the world until the condition holds; that it does not within the limit is an error.
func (s *Stage) Until(limit time.Duration, what string, cond func() bool) error {
	why := s.World.Run(cond, s.World.Now().Add(limit))
	if err := s.World.Err(); err != nil {
		return err
	}
	if !cond() {
		return fmt.Errorf("not within %v (%v): %s\ntasks: %v", limit, why, what, s.World.Tasks())
	}
	return nil
}

// Pass lets time go by in the world.
func (s *Stage) Pass(d time.Duration) error {
	s.World.Run(nil, s.World.Now().Add(d))
	return s.World.Err()
}

// Do carries out a line of a script. A request is waited for, unless the line says async; then its
// answer shows up when it comes.
func (s *Stage) Do(l Line) error {
	if do := s.Verbs[l.Verb()]; do != nil {
		return do(l)
	}
	do := s.Requests[l.Verb()]
	if do == nil {
		return fmt.Errorf("there is no verb %q", l.Verb())
	}
	s.waited = new(int)
	mine := s.waited
	if err := do(l); err != nil || l.Async() {
		return err
	}
	return s.Until(requestLimit, l.Verb()+" is answered", func() bool { return *mine == 0 })
}

// Run follows every script below a directory, each on a stage of its own, and compares what happens
// with what the script shows.
func Run(t *testing.T, dir string, start func() *Stage) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		s := start()
		defer s.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			line := *d // requests read it later, when there is another one in d
			if err := s.Do(Line{&line}); err != nil {
				d.Fatalf(t, "%v\nso far:\n%s", err, s.out.String())
			}
			return s.out.String()
		})
	})
}

// RunClusters follows every script below a directory, each on whole clusters.
func RunClusters(t *testing.T, dir string) {
	Run(t, dir, func() *Stage { return New().Stage })
}
