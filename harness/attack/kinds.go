package attack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/listed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Kind is a fault that can be done to real servers.
type Kind struct {
	// Name is how schedules call it, About what it does in one line.
	Name, About string
	Aim         Aim
	Args        []Arg
	// Ends is set when the process is expected to end by it.
	Ends bool
	// Momentary is set when nothing is left to repair.
	Momentary bool
	// draw fills in the target and the arguments.
	draw func(d *drawing, f *scenario.Fault)
}

// Aim is what a kind's target names.
type Aim uint8

// The aims.
const (
	AtNode Aim = iota + 1 // a server, or a role such as "shard-a.primary" or "donor.primary"
	AtSet                 // a replica set, such as "config", or "donor"
	AtLink                // "from>to", both as in AtNode
	AtAll                 // every server: "*"
)

// Arg is a parameter of a kind.
type Arg struct {
	Name, About, Default string
	check                func(value string) error
}

var declaredKinds listed.Entries[*Kind]

// declare adds a kind. It is called from package-level variables only. The place must be free.
func declare(place int, k Kind) *Kind { return declaredKinds.Declare(place, &k) }

// Kinds are all of them, in the order in which they are listed.
func Kinds() []*Kind { return declaredKinds.All() }

// KindNames lists their names.
func KindNames() (names []string) {
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// FindKind is the kind of that name, or an error that names the nearest ones.
func FindKind(name string) (*Kind, error) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
	}
	return nil, suggest.Unknown("fault of real servers", name, KindNames(), "attack-faults")
}

// Text is an argument of a fault, or its default.
func (k *Kind) Text(f *scenario.Fault, name string) string {
	for _, a := range f.Args {
		if a.Name == name {
			return a.Value
		}
	}
	for _, a := range k.Args {
		if a.Name == name {
			return a.Default
		}
	}
	return ""
}

// Duration is an argument that CheckFault has accepted as a duration.
func (k *Kind) Duration(f *scenario.Fault, name string) time.Duration {
	d, _ := time.ParseDuration(k.Text(f, name))
	return d
}

// CheckFault says what keeps a fault of a schedule from being carried out.
func CheckFault(f scenario.Fault) error {
	k, err := FindKind(f.Kind)
	switch {
	case err != nil:
		return err
	case f.When.Site != "" || f.Until != nil:
		return fmt.Errorf("fault %d happens at a failpoint; real servers are attacked at times, "+
			"such as `at 2s`", f.ID)
	}
	if err := k.checkTarget(f.Target); err != nil {
		return fmt.Errorf("fault %d (%s): %w", f.ID, f.Kind, err)
	}
	for _, a := range f.Args {
		i := slices.IndexFunc(k.Args, func(known Arg) bool { return known.Name == a.Name })
		if i < 0 {
			return fmt.Errorf("fault %d: %s has no argument %q", f.ID, k.Name, a.Name)
		}
		if err := k.Args[i].check(a.Value); err != nil {
			return fmt.Errorf("fault %d: %s: argument %s: %w", f.ID, k.Name, a.Name, err)
		}
	}
	return nil
}

func (k *Kind) checkTarget(target string) error {
	from, to, link := strings.Cut(target, ">")
	switch k.Aim {
	case AtLink:
		if !link || from == "" || to == "" {
			return fmt.Errorf("%q is no link such as shard-a.0>config.primary", target)
		}
	case AtNode:
		if !strings.Contains(target, ".") || link {
			return fmt.Errorf("%q is no server such as shard-a.0 or shard-a.primary", target)
		}
	case AtSet:
		if target == "" || strings.ContainsAny(target, ".>*") {
			return fmt.Errorf("%q is no replica set such as shard-a", target)
		}
	case AtAll:
		if target != "*" {
			return fmt.Errorf("the target is %q; it must be *", target)
		}
	}
	return nil
}

func durationArg(name, about, value string) Arg {
	return Arg{name, about, value, func(v string) error {
		if d, err := time.ParseDuration(v); err != nil || d == 0 {
			return fmt.Errorf("%q is not a duration such as %s", v, value)
		}
		return nil
	}}
}

func wordArg(name, about string, words ...string) Arg {
	return Arg{name, about, words[0], func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(words, ", "))
		}
		return nil
	}}
}

func textArg(name, about, value string) Arg {
	return Arg{name, about, value, func(v string) error {
		if v == "" {
			return fmt.Errorf("it is empty; write a word such as %s", value)
		}
		return nil
	}}
}

// drawing answers the questions of one fault.
type drawing struct {
	p      *Params
	source keyed.Source
	id     int
}

func (d *drawing) n(what string, n int) int {
	return d.source.IntN(fmt.Sprintf("fault/%d/%s", d.id, what), n)
}

func (d *drawing) one(what string, of ...string) string { return of[d.n(what, len(of))] }

func (d *drawing) between(what string, low, high time.Duration) time.Duration {
	steps := int((high - low) / (10 * time.Millisecond))
	return low + time.Duration(d.n(what, steps+1))*10*time.Millisecond
}

func (d *drawing) set(f *scenario.Fault, name, value string) {
	f.Args = append(f.Args, scenario.Setting{Name: name, Value: value})
}

// role is mostly somebody who has to do with a movement.
func (d *drawing) role(what string) string {
	switch at := d.n(what, 10); {
	case at < 3:
		return "donor.primary"
	case at < 5:
		return "recipient.primary"
	case at < 7:
		return "config.primary"
	case at < 8:
		return fmt.Sprintf("router.%d", d.n(what+"/router", d.p.Topology.Routers))
	}
	return d.member(what)
}

// member is any member of a replica set.
func (d *drawing) member(what string) string {
	if d.n(what+"/config", 4) == 0 {
		return fmt.Sprintf("config.%d", d.n(what+"/member", d.p.Topology.ConfigMembers))
	}
	shard := ShardName(d.n(what+"/shard", d.p.Topology.Shards))
	return fmt.Sprintf("%s.%d", shard, d.n(what+"/member", d.p.Topology.Members))
}

// replica is a role without routers.
func (d *drawing) replica(what string) string {
	return d.one(what, "donor.primary", "recipient.primary", "config.primary", d.member(what+"/m"))
}

// link is between two members of replica sets, which may turn out to be the same.
func (d *drawing) link() string {
	from, to := d.replica("from"), d.replica("to")
	for i := 0; to == from && i < 5; i++ {
		to = d.replica(fmt.Sprint("to/", i))
	}
	return from + ">" + to
}

// ShardName is the name of a shard by its number.
func ShardName(i int) string { return "shard-" + string(rune('a'+i)) }
