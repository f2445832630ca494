package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/debugger"
	"github.com/shardproof/shardproof/histories/trace"
)

// texts stores each text once.
type texts struct {
	texts []string
	at    map[string]int
}

// number is where the text is.
func (t *texts) number(text string) int {
	n, ok := t.at[text]
	if !ok {
		if t.at == nil {
			t.at = map[string]int{}
		}
		n = len(t.texts)
		t.at[text] = n
		t.texts = append(t.texts, text)
	}
	return n
}

// states are what `step` shows at the steps that matter: lines, each kept once.
type states struct {
	Lines []string `json:"lines"`
	At    []state  `json:"at"`
}

// state is the cluster after a step; every number is that of a line.
type state struct {
	Step       uint64 `json:"s"`
	Time       int64  `json:"t"`
	Who        []int  `json:"who,omitempty"`
	Catalog    []int  `json:"catalog"`
	Nodes      []int  `json:"nodes"`
	Migrations []int  `json:"migrations"`
	Faults     []int  `json:"faults"`
}

// mostStates is how many states a view has.
const mostStates = 400

func (b *builder) states(film *debugger.Film) (*states, *debugger.Recording, error) {
	steps := b.stepsToShow()
	recorded, err := film.Record(steps)
	if err != nil {
		return nil, nil, err
	}
	s := &stateReader{stepper: debugger.New(film), made: &states{}}
	if b.focus >= 0 {
		focus := b.keys.all[b.focus]
		s.who = "who " + focus.Text + " " + focus.NS
	}
	for _, step := range steps {
		s.read(step)
	}
	s.made.Lines = s.lines.texts
	return s.made, recorded, nil
}

// stepsToShow are the steps of the story, and of those that change owners, documents or work in
// progress as many as there is room for.
func (b *builder) stepsToShow() []uint64 {
	var must, may []uint64
	for i := range b.run.Events {
		e := &b.run.Events[i]
		switch {
		case b.told[e.Step] || b.proof[e.Step]:
			must = append(must, e.Step)
		case changesState(e) || e.Kind == trace.Applied && b.focus >= 0 &&
			b.keys.document(e) == b.focus:
			may = append(may, e.Step)
		}
	}
	for room := mostStates - len(must); len(may) > max(room, 1); {
		thinned := may[:0]
		for i, step := range may {
			if i%2 == 0 {
				thinned = append(thinned, step)
			}
		}
		may = thinned
	}
	all := append(must, may...)
	slices.Sort(all)
	return slices.Compact(all)
}

func changesState(e *trace.Event) bool {
	switch e.Kind {
	case trace.NodeUp, trace.NodeDown, trace.Elected, trace.SteppedDown, trace.Fault, trace.Repair,
		trace.CatalogWritten, trace.MetadataInstalled, trace.MetadataCleared,
		trace.CriticalSection, trace.MigrationRequested, trace.DonorAdvanced,
		trace.RecipientAdvanced, trace.DecisionMade, trace.MigrationEnded, trace.RangeDeletion,
		trace.PrimaryMoving:
		return true
	}
	return false
}

// stateReader runs the stepper as on a terminal.
type stateReader struct {
	stepper *debugger.Stepper
	lines   texts
	made    *states
	who     string
}

func (s *stateReader) read(step uint64) {
	at := state{Step: step}
	if s.ask(fmt.Sprintf("goto %d", step)) == nil {
		return
	}
	at.Time = s.stepper.Time()
	if s.who != "" {
		at.Who = s.ask(s.who)
	}
	at.Catalog, at.Nodes = s.ask("show catalog"), s.ask("show nodes")
	at.Migrations, at.Faults = s.ask("show migrations"), s.ask("show faults")
	s.made.At = append(s.made.At, at)
}

// ask is the answer to a line, none when there is no answer.
func (s *stateReader) ask(line string) (numbers []int) {
	text, err := s.stepper.Do(line)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(text) {
		numbers = append(numbers, s.lines.number(strings.TrimRight(line, "\n")))
	}
	return numbers
}
