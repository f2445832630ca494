// Package debugger walks through a run, forward and back, one line of a command at a time: which
// event is next, who owns what there, what every node holds. A Film replays the run and takes
// frames of its states; a Stepper stands at one of its events.
//
// Promise: going anywhere shows what was there when the run was made, however one came there. A
// line that it does not understand is an error that says what it would.
//
// Refusal: it knows no terminal; the command line gives it lines and prints its answers.
package debugger

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/debugger/timeline"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/histories/trace"
)

// Stepper stands at an event of a run.
type Stepper struct {
	film *Film
	// at is the position of the event.
	at int
	// NS is the collection that keys are of; what `in` sets.
	ns string
}

// New stands at the first event of the run.
func New(film *Film) *Stepper {
	s := &Stepper{film: film}
	if c := film.Result.Scenario.Collections; len(c) > 0 {
		s.ns = c[0].NS
	}
	return s
}

// ErrQuit is what the line `quit` gives.
var ErrQuit = errors.New("quit")

// Do carries out one line. An empty one goes to the next event.
func (s *Stepper) Do(line string) (string, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		words = []string{"n"}
	}
	for _, c := range allCommands {
		if strings.HasPrefix(c.name, words[0]) {
			return c.do(s, words[1:])
		}
	}
	return "", fmt.Errorf("there is no command %q; `help` lists them", words[0])
}

// lineCommand is one that Do understands; its name may be cut short.
type lineCommand struct {
	name, args, about string
	do                func(s *Stepper, args []string) (string, error)
}

// allCommands are all, those first that one letter stands for. Set by init since help lists them.
var allCommands []lineCommand

func init() {
	allCommands = []lineCommand{
		{
			"next", "[N | WHAT]",
			"the next event, N events ahead, or the next one that WHAT describes",
			func(s *Stepper, a []string) (string, error) { return s.move(a, 1) },
		},
		{
			"previous", "[N | WHAT]", "the same, backwards",
			func(s *Stepper, a []string) (string, error) { return s.move(a, -1) },
		},
		{
			"goto", "STEP | TIME", "the first event at or after a step or a time (1.88s), or the last one",
			(*Stepper).jump,
		},
		{
			"here", "",
			"where the failure arose: HERE in its story, or the event that broke the promise",
			(*Stepper).here,
		},
		{
			"who", "KEY [NS]",
			"who owns a key, according to the catalog and each node, and its value on each",
			(*Stepper).who,
		},
		{
			"show", "[PART]", "the state of the cluster, or of a part of it",
			(*Stepper).show,
		},
		{"story", "", "what led to the failure, with the step of each line", (*Stepper).story},
		{"in", "NS", "the collection that keys refer to", (*Stepper).in},
		{"help", "", "this", (*Stepper).help},
		{"quit", "", "the end", func(*Stepper, []string) (string, error) { return "", ErrQuit }},
	}
}

const (
	whatWords = "a kind of event (kind donor-state, or just donor-state), key K, migration ID, " +
		"node N or fault"
	showWords = "all, catalog, nodes, node N, key K, migrations, migration ID, faults or events"
)

func (s *Stepper) help([]string) (string, error) {
	var b strings.Builder
	for _, c := range allCommands {
		fmt.Fprintf(&b, "  %-19s %s\n", c.name+" "+c.args, c.about)
	}
	fmt.Fprintf(&b, "WHAT is %s.\nPART is %s.\n", whatWords, showWords)
	b.WriteString("Commands may be abbreviated; an empty line repeats next.\n")
	return b.String(), nil
}

func (s *Stepper) events() []trace.Event { return s.film.Result.Events }

// Where is the event at which the stepper stands, in one line.
func (s *Stepper) Where() string {
	if len(s.events()) == 0 {
		return "the run has no events\n"
	}
	return s.line(s.at) + "\n"
}

// Time is the virtual time of that event, in nanoseconds.
func (s *Stepper) Time() int64 {
	if len(s.events()) == 0 {
		return 0
	}
	return s.events()[s.at].At
}

func (s *Stepper) line(i int) string {
	e := &s.events()[i]
	return fmt.Sprintf("%8d %10s  %s",
		e.Step, time.Duration(e.At).Round(10*time.Microsecond), explain.Sentence(e))
}

// move goes some events on or back, or to the nearest in that direction that the words name.
func (s *Stepper) move(words []string, by int) (string, error) {
	if len(words) == 0 {
		words = []string{"1"}
	}
	if n, err := strconv.Atoi(words[0]); err == nil && len(words) == 1 {
		s.at = min(max(s.at+by*n, 0), len(s.events())-1)
		return s.Where(), nil
	}
	wanted, err := s.what(words)
	if err != nil {
		return "", err
	}
	for i := s.at + by; i >= 0 && i < len(s.events()); i += by {
		if wanted(&s.events()[i]) {
			s.at = i
			return s.Where(), nil
		}
	}
	return "", fmt.Errorf("there is no more %s in that direction", strings.Join(words, " "))
}

func (s *Stepper) jump(words []string) (string, error) {
	if len(words) != 1 {
		return "", errors.New("goto needs a step such as 1853, or a time such as 171ms")
	}
	if d, err := time.ParseDuration(words[0]); err == nil && words[0] != "0" {
		return s.reach(func(e *trace.Event) bool { return e.At >= int64(d) })
	}
	step, err := strconv.ParseUint(words[0], 10, 64)
	if err != nil {
		return "", fmt.Errorf("goto needs a step such as 1853, or a time such as 171ms, not %q",
			words[0])
	}
	return s.reach(func(e *trace.Event) bool { return e.Step >= step })
}

// reach is first, and says when the run ends before the place.
func (s *Stepper) reach(is func(e *trace.Event) bool) (string, error) {
	text, err := s.first(is)
	if n := len(s.events()); n > 0 && !is(&s.events()[n-1]) {
		text = "the run ends before that; this is its last event:\n" + text
	}
	return text, err
}

// first goes to the first event of which is true, which holds for all that follow it; the last
// event, if for none.
func (s *Stepper) first(is func(e *trace.Event) bool) (string, error) {
	s.at = sort.Search(len(s.events())-1, func(i int) bool { return is(&s.events()[i]) })
	return s.Where(), nil
}

func (s *Stepper) here([]string) (string, error) {
	step, ok := explain.Turn(s.film.Result)
	if !ok {
		return "", errors.New("the run passes, or no event broke its promise")
	}
	return s.first(func(e *trace.Event) bool { return e.Step >= step })
}

func (s *Stepper) story([]string) (string, error) {
	if s.film.Result.Passed() {
		return "", errors.New("the run passes: there is no story")
	}
	return strings.Join(explain.StoryLinesWithSteps(s.film.Result), "\n") + "\n", nil
}

func (s *Stepper) in(words []string) (string, error) {
	for _, c := range s.film.Result.Scenario.Collections {
		if len(words) == 1 && words[0] == c.NS {
			s.ns = c.NS
			return "", nil
		}
	}
	return "", errors.New("in needs a collection of the scenario")
}

// frame is the state of the cluster where the stepper stands.
func (s *Stepper) frame() (*timeline.Frame, error) { return s.film.At(s.at) }
