package explain

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/trace"
)

// codeLines is how many places in the code a failure block has.
const codeLines = 4

// CodeLines are where in the code a failure came about: what the contradiction consists of, what
// servers wrote of the document on their own, what changed who owns it, and the failpoints at which
// a step failed or a node crashed, the last ones of the story. It needs a run made with
// Options.Places.
func CodeLines(r *runner.Result) (lines []string) {
	s := StoryOf(r)
	if s == nil || len(r.Places) == 0 {
		return nil
	}
	for i := len(s.Moments) - 1; i >= 0 && len(lines) < codeLines; i-- {
		m := &s.Moments[i]
		at, found := slices.BinarySearchFunc(r.Events, m.Step, byStep)
		if !found || len(r.Places[m.Step]) == 0 || !tellsCode(r.Events[at:], m.Weight == Must) {
			continue
		}
		lines = append(lines, fmt.Sprintf("step %d, %s: %s",
			m.Step, kindText(&r.Events[at]), PlaceText(r.Places[m.Step])))
	}
	slices.Reverse(lines)
	return lines
}

// CodeAt is the one place in the code to begin with, as file and line: from where the last write of
// the document was made that no client asked for, or else the last place of CodeLines. Empty for
// none.
func CodeAt(r *runner.Result) (at string) {
	s := StoryOf(r)
	if s == nil {
		return ""
	}
	written := false
	for i := range s.Moments {
		n, found := slices.BinarySearchFunc(r.Events, s.Moments[i].Step, byStep)
		if !found || !tellsCode(r.Events[n:], s.Moments[i].Weight == Must) ||
			len(r.Places[r.Events[n].Step]) == 0 {
			continue
		}
		place := r.Places[r.Events[n].Step]
		applied := r.Events[n].Kind == trace.Applied && r.Events[n].Actor != trace.User
		if written && !applied {
			continue
		}
		written = applied
		at, _, _ = strings.Cut(place[min(len(place), callersTold)-1], " ")
	}
	return at
}

func byStep(e trace.Event, step uint64) int { return int(int64(e.Step) - int64(step)) }

// tellsCode says whether the code that emitted the first of the events may be what is wrong. Of a
// fault that hits no task, its place is only where some task happened to be.
func tellsCode(events []trace.Event, must bool) bool {
	switch e := &events[0]; e.Kind {
	case trace.Applied:
		return must || e.Actor != trace.User && e.Actor != trace.System
	case trace.CatalogWritten:
		return must || e.Why() != "shardCollection" // which begins most runs
	case trace.PointHit:
		return e.StepFailed()
	case trace.Fault:
		return len(events) > 1 && events[1].Kind == trace.PointHit &&
			(events[1].StepFailed() || strings.Contains(e.FaultKind(), "crash"))
	case trace.Majority, trace.Writable, trace.Elected, trace.SteppedDown, trace.RolledBack,
		trace.NodeUp, trace.NodeDown, trace.Repair:
		return false
	}
	return must
}

func kindText(e *trace.Event) string {
	switch {
	case e.Kind == trace.Applied && e.Hash == 0:
		return e.Actor.String() + " deletes"
	case e.Kind == trace.Applied:
		return e.Actor.String() + " writes"
	case e.Kind == trace.Fault:
		return "fault " + fmt.Sprint(e.FaultNumber())
	}
	return e.Kind.String()
}

// callersTold is how many functions a place is told with: the one that does it mostly serves
// several callers.
const callersTold = 3

// PlaceText is a place in the code and where it was called from, as file and line.
func PlaceText(place []string) string {
	var all []string
	folder := ""
	for _, one := range place[:min(len(place), callersTold)] {
		file, _, _ := strings.Cut(one, " ")
		in, name := path.Split(file)
		if in == folder {
			file = name
		}
		folder = in
		all = append(all, file)
	}
	return strings.Join(all, " ← ")
}
