package debugger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/harness/debugger/timeline"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// what reads which events are looked for.
func (s *Stepper) what(words []string) (func(e *trace.Event) bool, error) {
	if words[0] == "fault" {
		return func(e *trace.Event) bool { return e.Kind == trace.Fault }, nil
	}
	if kind, ok := trace.ParseKind(words[len(words)-1]); ok {
		return func(e *trace.Event) bool { return e.Kind == kind }, nil
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("WHAT is %s, not %q", whatWords, strings.Join(words, " "))
	}
	name := words[1]
	switch words[0] {
	case "migration":
		return func(e *trace.Event) bool {
			subject, says, _ := e.Details()
			return subject == name || strings.HasSuffix(says, " "+name)
		}, nil
	case "node":
		return func(e *trace.Event) bool { return e.Node == name || e.Peer == name }, nil
	case "key":
		n, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a key is a whole number, not %q", name)
		}
		return s.touches(n), nil
	}
	return nil, fmt.Errorf("WHAT is %s, not %q", whatWords, strings.Join(words, " "))
}

// touches says of an event whether it changes a key or who owns it.
func (s *Stepper) touches(n int64) func(e *trace.Event) bool {
	id, ns := string(key.Int(n)), s.ns
	place := s.place(n)
	return func(e *trace.Event) bool {
		switch e.Kind {
		case trace.Applied:
			return e.NS == ns && explain.NumberOf(e) == id
		case trace.CatalogWritten:
			return e.NS == ns && slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool {
				return c.Min <= place && place < c.Max
			})
		}
		return e.NS == ns && e.Min <= place && place < e.Max
	}
}

// place is a key's shard key in the collection.
func (s *Stepper) place(n int64) string {
	for _, c := range s.film.Result.Scenario.Collections {
		if c.NS == s.ns {
			p := timeline.Placement{NS: c.NS, Hashed: c.Hashed, Share: c.Share}
			return string(p.Shard(n))
		}
	}
	return string(key.Int(n))
}

func (s *Stepper) who(words []string) (string, error) {
	if len(words) == 2 {
		if _, err := s.in(words[1:]); err != nil {
			return "", err
		}
		words = words[:1]
	}
	if len(words) != 1 {
		return "", errors.New("who needs a key, and optionally a collection")
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return "", fmt.Errorf("a key is a whole number, not %q", words[0])
	}
	f, err := s.frame()
	if err != nil {
		return "", err
	}
	return f.KeyText(s.ns, n), nil
}

// show is the state of the cluster or of a part.
func (s *Stepper) show(words []string) (string, error) {
	if len(words) == 0 {
		words = []string{"all"}
	}
	f, err := s.frame()
	if err != nil {
		return "", err
	}
	switch about, rest := words[0], words[1:]; about {
	case "all":
		return s.Where() + f.CatalogText() + "nodes\n" + f.NodesText() + s.migrations() +
			s.faults(), nil
	case "catalog":
		return f.CatalogText(), nil
	case "nodes":
		return f.NodesText(), nil
	case "key":
		return s.who(rest)
	case "migrations":
		return s.migrations(), nil
	case "faults":
		return s.faults(), nil
	case "events":
		return s.around(), nil
	case "node", "migration":
		if len(rest) != 1 {
			return "", fmt.Errorf("show %s needs a name", about)
		}
		if about == "node" {
			return s.node(f, rest[0])
		}
		return s.migration(rest[0])
	}
	return "", fmt.Errorf("show takes %s, not %q", showWords, words[0])
}

func (s *Stepper) node(f *timeline.Frame, name string) (string, error) {
	if n := f.Node(name); n != nil {
		return n.Text(), nil
	}
	var known []string
	for _, n := range f.Nodes {
		known = append(known, n.Name)
	}
	return "", fmt.Errorf("there is no server %q; there are %s", name, strings.Join(known, ", "))
}

// progress is what is in progress where the stepper stands.
func (s *Stepper) progress() *timeline.Progress { return timeline.After(s.events()[:s.at+1]) }

func (s *Stepper) migration(id string) (string, error) {
	for _, m := range s.progress().Migrations {
		if m.ID == id {
			return m.Text(), nil
		}
	}
	return "", fmt.Errorf(
		"no migration %q has started yet; `show migrations` lists those that have", id,
	)
}

// migrations are those that are in progress, and how many are over.
func (s *Stepper) migrations() string {
	var b strings.Builder
	b.WriteString("migrations\n")
	over := 0
	for _, m := range s.progress().Migrations {
		if m.Over() {
			over++
			continue
		}
		b.WriteString("  " + strings.ReplaceAll(strings.TrimSuffix(m.Text(), "\n"), "\n",
			"\n  ") + "\n")
	}
	fmt.Fprintf(&b, "  %d have ended\n", over)
	return b.String()
}

func (s *Stepper) faults() string {
	under := s.progress().Faults
	if len(under) == 0 {
		return "faults\n  none in progress\n"
	}
	return "faults\n  " + strings.Join(under, "\n  ") + "\n"
}

// around are the events before and after this one.
func (s *Stepper) around() string {
	const many = 8
	var b strings.Builder
	for i := max(0, s.at-many); i < min(len(s.events()), s.at+many+1); i++ {
		mark := "  "
		if i == s.at {
			mark = "> "
		}
		b.WriteString(mark + s.line(i) + "\n")
	}
	return b.String()
}
