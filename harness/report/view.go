package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/debugger"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// view is one run as the page shows it. Times are virtual nanoseconds, lanes positions in Lanes.
type view struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Outcome   string `json:"outcome"`
	Signature string `json:"signature,omitempty"`
	Profile   string `json:"profile"`
	Seed      uint64 `json:"seed,string"`
	Protocol  string `json:"protocol"`
	Hash      string `json:"hash"`
	Steps     uint64 `json:"steps"`
	End       int64  `json:"end"`

	Checker string   `json:"checker,omitempty"`
	Promise string   `json:"promise,omitempty"`
	Broke   string   `json:"broke,omitempty"`
	Because []string `json:"because,omitempty"`
	// Inside is what was wrong inside the cluster before a client noticed.
	Inside []string      `json:"inside,omitempty"`
	Story  []moment      `json:"story,omitempty"`
	Checks list[verdict] `json:"checks"`
	// Left is the number of events that the page leaves out.
	Left int `json:"left,omitempty"`

	Lanes list[lane] `json:"lanes"`
	// Code are places in the code with their callers, each once.
	Code     list[string]  `json:"code"`
	Events   list[event]   `json:"events"`
	Ops      list[op]      `json:"ops"`
	Spans    list[span]    `json:"spans"`
	Messages list[message] `json:"messages"`
	Keys     list[keyOf]   `json:"keys"`
	Ranges   list[owned]   `json:"ranges"`
	// Focus is the position in Keys of the key that the failure is about, -1 for none.
	Focus  int     `json:"focus"`
	States *states `json:"states"`

	Scenario string `json:"scenario"`
}

// list is a list that the page's script may go through: an empty one is no null there.
type list[T any] []T

// MarshalJSON writes [] for a nil list, too.
func (l list[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// moment is a line of the story.
type moment struct {
	Step  uint64 `json:"step,omitempty"`
	Op    int    `json:"op,omitempty"`
	At    int64  `json:"at"`
	Text  string `json:"text"`
	Here  bool   `json:"here,omitempty"`
	Proof bool   `json:"proof,omitempty"`
}

// verdict is what a checker concluded.
type verdict struct {
	Checker string   `json:"checker"`
	Promise string   `json:"promise"`
	Outcome string   `json:"outcome"`
	Checked int      `json:"checked"`
	Broke   []string `json:"broke,omitempty"`
}

// viewOf is the run as the page shows it.
func viewOf(r *runner.Result) (*view, error) {
	worst := r.Worst()
	v := &view{
		Outcome: string(worst.Outcome), Signature: r.Signature(), Profile: r.Scenario.Name,
		Seed: r.Scenario.Seed, Protocol: r.Scenario.Protocol, Hash: r.HashText(), Steps: r.Steps,
		Promise: worst.Promise, Checker: worst.Checker,
	}
	v.conclude(r, worst)
	b := newBuilder(r)
	v.Lanes, v.Keys, v.Focus = b.lanes.all, b.keys.all, b.focus
	v.Events, v.Ops = b.events(), b.ops()
	v.Code = b.code.texts
	v.Spans, v.Ranges = b.spans(), b.ranges()
	v.Story = b.story()
	v.End = b.end()
	if r.Target == nil { // a run that was recorded, and cannot be gone through again
		v.States = &states{Lines: []string{}, At: []state{}}
		return v, nil
	}
	film := debugger.FilmOf(r)
	defer film.Close()
	var err error
	var recorded *debugger.Recording
	if v.States, recorded, err = b.states(film); err != nil {
		return nil, err
	}
	v.Messages = b.messages(recorded.Messages)
	return v, nil
}

func (v *view) conclude(r *runner.Result, worst checkers.Verdict) {
	if len(worst.Violations) > 0 {
		first := &worst.Violations[0]
		v.Broke, v.Because = first.Broke, first.Because
		if inside := explain.Inside(r); inside != nil {
			v.Inside = inside.Lines()
		}
	} else if len(worst.Undecided) > 0 {
		v.Broke, v.Because = worst.Undecided[0], worst.Undecided[1:]
	}
	for _, of := range r.Verdicts {
		c := verdict{
			Checker: of.Checker, Promise: of.Promise, Outcome: string(of.Outcome),
			Checked: of.Checked, Broke: slices.Clone(of.Undecided),
		}
		for _, one := range of.Violations {
			c.Broke = append(c.Broke, one.Broke)
		}
		v.Checks = append(v.Checks, c)
	}
}

// limitEvents keeps what the story and the pictures need, and the events around.
func (v *view) limitEvents(most int) {
	over := len(v.Events) - most
	if over <= 0 {
		return
	}
	kept := v.Events[:0]
	for _, e := range v.Events {
		if over > 0 && e.routine {
			over--
			v.Left++
			continue
		}
		kept = append(kept, e)
	}
	v.Events = kept
}

// builder makes a view of a run.
type builder struct {
	run   *runner.Result
	lanes *lanes
	keys  *keys
	focus int
	// told and proof are the steps of the story and of the contradiction, proven its operations.
	told, proof map[uint64]bool
	proven      map[int]bool
	tale        *explain.Story
	code        texts
}

func newBuilder(r *runner.Result) *builder {
	b := &builder{
		run: r, lanes: lanesOf(r), keys: keysOf(r), told: map[uint64]bool{},
		proof: map[uint64]bool{}, proven: map[int]bool{}, tale: explain.StoryOf(r), focus: -1,
	}
	ops, steps := explain.Proof(r)
	for _, id := range ops {
		b.proven[id] = true
	}
	for _, step := range steps {
		b.proof[step] = true
	}
	if b.tale != nil {
		for _, m := range b.tale.Moments {
			b.told[m.Step] = true
		}
		about := &r.Worst().Violations[0]
		b.focus = b.keys.find(about.NS, about.Key)
	}
	return b
}

// story is the story's lines. The time and the text of an operation name it.
func (b *builder) story() (all []moment) {
	if b.tale == nil {
		return nil
	}
	for _, m := range b.tale.Moments {
		text, here := strings.CutPrefix(m.Text, explain.HereMark)
		all = append(all, moment{
			Step: m.Step, At: m.At, Text: text, Here: here, Proof: b.proof[m.Step] || m.Op != 0,
			Op: m.Op,
		})
	}
	return all
}

// end is when the last thing happened.
func (b *builder) end() (at int64) {
	if n := len(b.run.Events); n > 0 {
		at = b.run.Events[n-1].At
	}
	for i := range b.run.History {
		at = max(at, b.run.History[i].ReturnAt)
	}
	return at
}

// routine reports whether an event is of a kind that happens all the time.
func (b *builder) routine(e *trace.Event) bool {
	if b.told[e.Step] || b.proof[e.Step] {
		return false
	}
	switch e.Kind {
	case trace.Majority, trace.Applied, trace.Executed, trace.CursorAnswered, trace.CursorOpened,
		trace.CursorClosed, trace.Answered, trace.CallEnded, trace.BalancerRound:
		return true
	}
	return false
}

// ops are the operations of clients. Those that preload the collections are not shown.
func (b *builder) ops() (all []op) {
	for i := range b.run.History {
		of := &b.run.History[i]
		if of.Client == histories.PreloadClient {
			continue
		}
		all = append(all, op{
			ID: of.ID, Lane: b.lanes.client(of.Client), From: of.CallAt, To: of.ReturnAt,
			Outcome: string(of.Outcome), Kind: string(of.Kind), Text: explain.Operation(of),
			Key: b.keys.number(of.NS, of.Key, of.Kind), Proof: b.proven[of.ID],
		})
	}
	return all
}
