package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// The services that operators may switch off, as config.settings names them.
const (
	AutoSplit = "autosplit" // of 4.2: shards cut chunks that clients write to
)

// unwanted is the signature of what a service does that is switched off.
const unwanted verdict.Signature = "service-not-off"

// service is what operators have said of a service, as their commands tell and not what the store
// makes of them.
type service struct {
	// step is that at which the first command that switched it off was acknowledged, 0 while it may
	// be on, and off when that was.
	off  int64
	step uint64
	// on says that somebody has switched it on, or has tried to: from then on nothing is known.
	on bool
}

// ServiceIs is that a service runs, or does not; what is judged is what it does afterwards.
func ServiceIs(name string, on bool) *Fact {
	return &Fact{
		What: name + " is switched", holds: func(*Oracle) bool { return true },
		service: name, on: on,
	}
}

// switches notes that a command about a service was given.
func (o *Oracle) switches(f *Fact) {
	if s := o.service(f.service); f.on {
		s.on, s.step = true, 0
	}
}

// switched notes that it was acknowledged.
func (o *Oracle) switched(f *Fact) {
	if s := o.service(f.service); !f.on && !s.on && s.step == 0 {
		s.off, s.step = o.causes.now, o.step
	}
}

func (o *Oracle) service(name string) *service {
	s := o.services[name]
	if s == nil {
		s = &service{}
		o.services[name] = s
	}
	return s
}

// permit judges that a shard has learned that it may look for a chunk to cut, which it asked for at
// some time, and counts it.
func (s *splits) permit(e *trace.Event) {
	s.permits[e.Node+" "+e.NS]++
	if off := s.service(AutoSplit); off.step != 0 && e.Sent() > off.off {
		s.unwanted(e, fmt.Sprintf("%s has learned that it may cut chunks of %s", e.Node, e.NS),
			fmt.Sprintf("it asked after step %d, when an operator was told that %s is off",
				off.step, AutoSplit))
	}
}

// judgePermitted judges that a shard has a chunk cut in several pieces: unless zones demand it or
// the chunk was too big to be moved, it has asked before, once for each cut.
func (s *splits) judgePermitted(e *trace.Event) {
	found, known := s.found[e.NS+e.Min]
	cut := fmt.Sprint(e.NS, e.Min, e.Max, points(e))
	if e.Code() != "" || len(points(e)) < 2 || s.causes.commands > 0 || s.zoned[e.NS] ||
		known && len(found.points) > 0 || s.cuts[cut] {
		return
	}
	s.cuts[cut] = true
	if s.permits[e.Peer+" "+e.NS]--; s.permits[e.Peer+" "+e.NS] < 0 {
		s.unwanted(e, fmt.Sprintf("%s has had the chunk %s cut", e.Peer, s.span(e.Min, e.Max)),
			"it has not learned before that it may")
	}
}

func (s *splits) unwanted(e *trace.Event, broke, because string) {
	s.report(splitRule, verdict.Violation{
		Signature: unwanted, NS: e.NS, Broke: broke, Because: []string{because},
	}, s.service(AutoSplit).step)
}
