package runner

import (
	"fmt"
	"path"
	"runtime" //shardproof:allow import stacks of the code under test, which decide nothing in a run
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// places are where in the code events were emitted, by step.
type places map[uint64][]string

func (p places) observer() Observer {
	return Observer{Event: func(e *trace.Event) {
		if stack := emitters(); len(stack) > 0 {
			p[e.Step] = stack
		}
	}}
}

// mostPlaces is how many functions a place has at most.
const mostPlaces = 8

// emitters are the functions of the code under test that emit an event just now, the innermost
// first; none for events of the world itself. Those that only tell what others did are left out
// unless there are no others.
func emitters() (all []string) {
	var stack [48]uintptr
	var tellers []string
	frames := runtime.CallersFrames(stack[:runtime.Callers(2, stack[:])])
	for more := true; more && len(all) < mostPlaces; {
		var frame runtime.Frame
		frame, more = frames.Next()
		_, function, own := strings.Cut(frame.Function, modulePath)
		switch {
		case !own || carries(function):
		case len(all) == 0 && tells(function):
			tellers = append(tellers, placeText(function, frame))
		default:
			all = append(all, placeText(function, frame))
		}
	}
	if all == nil {
		return tellers
	}
	return all
}

// modulePath begins the names of all functions of the project.
const modulePath = "shardproof/shardproof/"

// placeText is a place for people. The folder is that of the package, since that of the file
// depends on how and where the program was built.
func placeText(function string, frame runtime.Frame) string {
	folder, name := path.Split(function)
	pkg, _, _ := strings.Cut(name, ".")
	return fmt.Sprintf("%s%s/%s:%d %s", folder, pkg, path.Base(frame.File), frame.Line, name)
}

// carries says whether a function only brings events from the code under test to who watches, or
// calls that code.
func carries(function string) bool {
	return strings.HasPrefix(function, "system/sim.") ||
		strings.HasPrefix(function, "system/env.") ||
		strings.HasPrefix(function, "system/rpc.") ||
		strings.HasPrefix(function, "faults") ||
		strings.HasPrefix(function, "cmd/") ||
		strings.HasPrefix(function, "harness.") ||
		strings.HasPrefix(function, "harness/") && !strings.HasPrefix(function, "harness/example/")
}

// tells says whether a function tells watchers what its caller did, or is the way of every log
// entry.
func tells(function string) bool {
	name := function[strings.LastIndexByte(function, '.')+1:]
	return strings.HasPrefix(name, "announce") || strings.HasPrefix(name, "emit") ||
		slices.Contains([]string{"Applied", "take", "become"}, name) ||
		strings.HasPrefix(function, "system/replset.(*Member).") &&
			slices.Contains([]string{"apply", "append", "handle", "readyLoop", "Write"}, name)
}
