package sim_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// text is the only message of these tests; its first word is its class.
type text struct{ Text string }

// textCodec is the codec of these tests.
type textCodec struct{}

func (textCodec) Encode(m env.Message) ([]byte, error) { return []byte(m.(*text).Text), nil }

func (textCodec) Decode(b []byte) (env.Message, error) { return &text{string(b)}, nil }

func firstWord(m env.Message) string {
	word, _, _ := strings.Cut(m.(*text).Text, " ")
	return word
}

// script is a world whose tasks run small programs; each writes what it sees as a line "time node
// task: text".
type script struct {
	t       *testing.T
	w       *sim.World
	out     strings.Builder
	conds   map[string]*env.Cond
	flags   map[string]bool
	scopes  map[string]*env.Scope
	tasks   map[string]env.Task
	latches map[string]*sim.Latch
	actions map[string]sim.Action
	traced  bool
}

// TestScripts walks through small worlds. Commands are the cases of control, programs those of
// instruction.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{t: t}
		defer func() { s.w.Close() }()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.control(d)
			if s.out.Len() == 0 {
				return "ok"
			}
			return s.out.String()
		})
	})
}

func arg[T any](
	s *script, d *datadriven.TestData, name string, parse func(string) (T, error),
) (v T) {
	a, ok := d.Arg(name)
	if !ok {
		return v
	}
	v, err := parse(a.Vals[0])
	if err != nil {
		d.Fatalf(s.t, "%s: %v", name, err)
	}
	return v
}

func littleEndian(v string) (string, error) { return v, nil }

func odds(v string) (sim.Probability, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(v, "%"))
	return sim.Probability(n) * sim.Always / 100, err
}

// control is one command of a script.
func (s *script) control(d *datadriven.TestData) {
	names := make([]env.NodeID, 0, len(d.CmdArgs))
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			names = append(names, env.NodeID(a.Key))
		}
	}
	switch d.Cmd {
	case "world": // seed=N jitter=D service=D loss=P tail=P yield=P planned codec trace
		s.world(d)
	case "node": // names
		for _, id := range names {
			s.w.AddNode(id, s.boot)
		}
	case "task": // node name scope=S: the input is its program
		s.spawn(d, names[0], string(names[1]))
	case "crash":
		s.w.Crash(names[0])
	case "restart":
		s.w.Restart(names[0])
	case "kill": // node: its tasks named work
		killed := s.w.Interrupt(names[0], func(task string) bool {
			return task == "work"
		}, errcode.New(errcode.Interrupted, "killed"))
		fmt.Fprintf(&s.out, "%d killed", killed)
	case "slow": // node factor=N
		s.w.SetSlowness(names[0], arg(s, d, "factor", strconv.Atoi))
	case "drift": // node ppm=N
		s.w.SetDrift(names[0], int64(arg(s, d, "ppm", strconv.Atoi)))
	case "jump": // node by=D
		s.w.JumpClock(names[0], arg(s, d, "by", time.ParseDuration))
	case "partition", "heal": // a b, or for one direction a b one-way; heal alone: everything
		s.partition(d.Cmd, names)
	case "rule":
		fmt.Fprintf(&s.out, "rule %d", s.w.AddRule(s.rule(d)))
	case "release":
		s.w.Release(sim.RuleID(arg(s, d, "rule", strconv.Atoi)))
	case "remove":
		s.w.RemoveRule(sim.RuleID(arg(s, d, "rule", strconv.Atoi)))
	case "at": // site=NAME node=N pause=D until=LATCH crash error=CODE announce
		s.at(d)
	case "open": // latch
		s.latch(string(names[0])).Open()
	case "tasks":
		for _, task := range s.w.Tasks() {
			fmt.Fprintln(&s.out, task)
		}
	case "decisions":
		for _, made := range s.w.Decisions() {
			fmt.Fprintf(&s.out, "%s %s #%d = %d\n",
				made.Kind, made.Site, made.Occurrence, made.Answer)
		}
	case "run": // for=D: what happens until then
		s.run(arg(s, d, "for", time.ParseDuration))
	default:
		d.Fatalf(s.t, "unknown command %s", d.Cmd)
	}
}

func (s *script) world(d *datadriven.TestData) {
	if s.w != nil {
		s.w.Close()
	}
	s.conds, s.scopes, s.tasks = map[string]*env.Cond{}, map[string]*env.Scope{},
		map[string]env.Task{}
	s.flags = map[string]bool{}
	s.latches, s.actions, s.traced = map[string]*sim.Latch{}, map[string]sim.Action{},
		d.HasArg("trace")
	jitter := arg(s, d, "jitter", time.ParseDuration)
	o := sim.Options{
		Seed:             uint64(arg(s, d, "seed", strconv.Atoi)),
		Planned:          d.HasArg("planned"),
		Classify:         firstWord,
		OnPoint:          s.onPoint,
		Service:          arg(s, d, "service", time.ParseDuration),
		YieldProbability: arg(s, d, "yield", odds),
		YieldMax:         time.Millisecond,
	}
	if o.Service == 0 {
		o.Service = -1
	}
	if o.YieldProbability == 0 {
		o.YieldMax = -1
	}
	o.Network = sim.Network{
		Loss:      arg(s, d, "loss", odds),
		Tail:      arg(s, d, "tail", odds),
		Keepalive: time.Second,
	}
	o.Network.Latency = func(from, to env.NodeID) sim.Latency {
		return sim.Latency{Base: time.Millisecond, Jitter: jitter}
	}
	fixed := func(d time.Duration) sim.Latency { return sim.Latency{Base: d} }
	o.Disk = sim.DiskTiming{Append: fixed(time.Millisecond), Sync: fixed(5 * time.Millisecond),
		Replace: fixed(6 * time.Millisecond), Read: fixed(2 * time.Millisecond)}
	if d.HasArg("codec") {
		o.Codec = textCodec{}
	}
	if s.traced {
		o.Trace = &s.out
	}
	s.w = sim.New(o)
}

func (s *script) partition(cmd string, names []env.NodeID) {
	oneWay := len(names) > 2
	switch {
	case cmd == "partition":
		s.w.Partition(names[0], names[1], oneWay)
	case len(names) == 0:
		s.w.HealNetwork()
	default:
		s.w.Heal(names[0], names[1], oneWay)
	}
}

func (s *script) rule(d *datadriven.TestData) sim.Rule {
	class, reply := arg(s, d, "class", littleEndian), d.HasArg("reply")
	return sim.Rule{
		From:           arg(s, d, "from", littleEndian),
		To:             arg(s, d, "to", littleEndian),
		Count:          arg(s, d, "count", strconv.Atoi),
		Hold:           d.HasArg("hold"),
		Copy:           d.HasArg("copy"),
		Chain:          sim.Probability(arg(s, d, "chain", strconv.Atoi)),
		PriorityChange: sim.Probability(arg(s, d, "demotion", strconv.Atoi)),
		Fate: sim.Fate{
			Drop:      d.HasArg("drop"),
			LoseReply: d.HasArg("lose-reply"),
			Duplicate: d.HasArg("duplicate"),
			Delay:     arg(s, d, "delay", time.ParseDuration),
			Spread:    arg(s, d, "spread", time.ParseDuration),
		},
		Match: func(m *sim.Message) bool {
			return (class == "" || m.Class == class) && m.Reply == reply
		},
	}
}

func (s *script) latch(name string) *sim.Latch {
	if s.latches[name] == nil {
		s.latches[name] = &sim.Latch{}
	}
	return s.latches[name]
}

func (s *script) at(d *datadriven.TestData) {
	a := sim.Action{
		Pause:    arg(s, d, "pause", time.ParseDuration),
		Crash:    d.HasArg("crash"),
		Announce: d.HasArg("announce"),
	}
	if until := arg(s, d, "until", littleEndian); until != "" {
		a.Until = s.latch(until)
	}
	if code := arg(s, d, "error", littleEndian); code != "" {
		a.Err = errcode.New(errcode.Code(code), "injected")
	}
	s.actions[arg(s, d, "node", littleEndian)+" "+arg(s, d, "site", littleEndian)] = a
}

func (s *script) onPoint(p *sim.PointHit) sim.Action {
	return s.actions[string(p.Node)+" "+p.Site.String()]
}

func (s *script) run(d time.Duration) {
	why := s.w.Run(nil, s.w.Now().Add(d))
	fmt.Fprintf(&s.out, "%s at %s\n", why, time.Duration(s.w.Now()))
	if b, ok := errors.AsType[*sim.BrokenInvariant](s.w.Err()); ok {
		fmt.Fprintf(&s.out, "%v\n", b)
		if b.Stack == "" {
			s.t.Errorf("broken invariant without a stack: %v", b)
		}
	}
}

func (s *script) say(t env.Task, format string, args ...any) {
	fmt.Fprintf(&s.out, "%10s %s %s: %s\n",
		time.Duration(s.w.Now()), t.Node().ID(), t.Name(), fmt.Sprintf(format, args...))
}

// boot serves programs: a request is an instruction list separated by "; ", whose last result is
// the answer.
func (s *script) boot(t env.Task) {
	n := t.Node()
	n.Serve(func(t env.Task, from env.NodeID, req env.Message) (env.Message, error) {
		s.say(t, "request from %s: %s", from, req.(*text).Text)
		words := strings.SplitN(req.(*text).Text, " ", 2)
		if len(words) == 1 {
			return &text{"done " + words[0]}, nil
		}
		answer, err := s.program(t, strings.Split(words[1], "; "))
		return &text{answer}, err
	})
	n.Receive(func(from env.NodeID, m env.Message) {
		fmt.Fprintf(&s.out, "%10s %s: message from %s: %s\n",
			time.Duration(s.w.Now()), n.ID(), from, m.(*text).Text)
	})
}

func (s *script) scope(name string) *env.Scope {
	if name == "" {
		return nil
	}
	if s.scopes[name] == nil {
		var parent *env.Scope
		if i := strings.LastIndex(name, "/"); i > 0 {
			parent = s.scope(name[:i])
		}
		s.scopes[name] = env.NewScope(parent)
	}
	return s.scopes[name]
}

func (s *script) spawn(d *datadriven.TestData, node env.NodeID, name string) {
	lines := strings.Split(d.Input, "\n")
	s.w.Node(node).Spawn(s.scope(arg(s, d, "scope", littleEndian)), name, func(t env.Task) {
		s.tasks[name] = t
		result, err := s.program(t, lines)
		if err != nil {
			s.say(t, "ended with %v", err)
			return
		}
		s.say(t, "%s", strings.TrimSpace("ended "+result))
	})
}

// program runs instructions until one fails. An instruction that starts with "try " reports its
// failure and goes on.
func (s *script) program(t env.Task, lines []string) (result string, err error) {
	for _, line := range lines {
		line, tolerant := strings.CutPrefix(strings.TrimSpace(line), "try ")
		result, err = s.instruction(t, strings.Fields(line))
		switch {
		case err == nil:
		case !tolerant:
			return "", err
		default:
			s.say(t, "%s: %v", line, err)
			result, err = "", nil
		}
	}
	return result, err
}

func duration(words []string, i int) time.Duration {
	if i >= len(words) {
		return 0
	}
	d, err := time.ParseDuration(words[i])
	if err != nil {
		panic(err)
	}
	return d
}

func site(name string) failpoint.Site {
	found, ok := failpoint.Parse(name)
	if !ok {
		panic("no site " + name)
	}
	return found
}
