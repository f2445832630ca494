package scenario

// The grammar of schema 2. A scenario is lines of one fact each; blank lines and lines that begin
// with # say nothing, and " # " begins a comment at the end of a line. A word with a blank, a
// quote, = or a character that is not ASCII, and an empty one, is quoted as in Go. TIME is a
// duration as Go writes it (120ms, 1.5s); KEY a whole number; RANGE is [KEY, KEY), where MinKey and
// MaxKey stand for the ends; SHARD is shard-a to shard-z; [...] may be left out, A | B is one of
// both, ... may be repeated.
//
//	shardproof scenario 2 [until end]                      the first line
//	name WORD   seed N   planned   target WORD   protocol 4.2 | 8.0
//	topology shards=N members=N config=N routers=N clients=N [spare=N]
//	balancer on   faults-end TIME   limit TIME
//	collection NS ranged | hashed | unsharded keys=N preload=N [bounds=KEY,...] [owners=N]
//	    [made=dealt | made=placed] [share=N] [absent]
//	preset quick | drawn | short                             at most once, before the first set
//	set SETTING VALUE                                      each setting once; replaces the preset's
//	op N at TIME client N KIND NS k=KEY | RANGE [v=VALUE] [if=VALUE | if-absent] [batch=N]
//	    [rest=TIME] [concern=WORD] [prefer=secondary] [age=TIME] [w=N] [wtimeout=TIME] [into=NS]
//	    [causal] [drop-target]
//	move N at TIME NS RANGE to SHARD [wait-delete] [force-jumbo=WORD] [throttle=WORD]
//	move-primary N at TIME DATABASE to SHARD
//	stream N at TIME NS poll=TIME [batch=N] [resume=N] [back=N]
//	fault N at TRIGGER KIND TARGET [NAME=VALUE ...] [for TIME] [until TRIGGER]
//	decide QUESTION SITE #N = ANSWER
//	at TIME COMMAND OPERAND...                             a command of an operator
//	at TIME client ... | move ... | move-primary ...       as op, move and move-primary, unnumbered
//	end                                                    the last line; must be there if said
//
// TRIGGER is TIME, or FAILPOINT #N [after TIME] [by NODE]. TARGET is a node (shard-a.1), a role
// (donor.primary, shard-a.*) or a link (A>B). A scenario of schema 1 is the same without presets,
// with moveprimary for move-primary, and with the names of renamed.txt.

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/opkind"
)

// pairs reads name=value up to the end of the line or the next plain word, and hands each to take,
// which says whether it knows the name.
func (l *line) pairs(known string, take func(name, value string) bool) {
	for l.more() && l.nextIsPair() {
		t := l.next(known)
		if !take(t.name, t.text) {
			l.fail("unknown "+t.name+"=", "expected "+known)
		}
	}
}

func (l *line) nextIsPair() bool {
	ahead := *l
	return ahead.next("").pair
}

func (l *line) topology() Topology {
	var t Topology
	fields := map[string]*int{
		"shards":  &t.Shards,
		"members": &t.Members,
		"config":  &t.ConfigMembers,
		"routers": &t.Routers,
		"clients": &t.Clients,
		"spare":   &t.Spare,
	}
	l.pairs("shards=, members=, config=, routers=, clients= and spare=",
		func(name, value string) bool {
			field, known := fields[name]
			if known {
				*field = int(l.integer(value, "a number such as "+name+"=3"))
			}
			return known
		})
	return t
}

// collectionPairs are what a collection's line may have.
const collectionPairs = "keys=, preload=, bounds=, owners=, made=, initial=, by= and share="

func (l *line) collection() Collection {
	c := Collection{NS: l.word("a namespace such as test.docs")}
	switch kind := l.word("ranged, hashed or unsharded"); kind {
	case "ranged":
	case "hashed":
		c.Hashed = true
	case "unsharded":
		c.Unsharded = true
	default:
		l.fail("unexpected "+quoteWord(kind), "expected ranged, hashed or unsharded")
	}
	l.pairs(collectionPairs, func(name, value string) bool {
		switch name {
		case "keys":
			c.Keys = int(l.integer(value, "a number such as keys=40"))
		case "preload":
			c.Preload = int(l.integer(value, "a number such as preload=20"))
		case "bounds":
			c.Bounds = l.integers(value)
		case "owners":
			c.Owners = int(l.integer(value, "a number of shards such as owners=1"))
		case "made":
			c.Made = value
		case "initial":
			c.Initial = int(l.integer(value, "a number of chunks such as initial=4"))
		case "by":
			c.By = value
			if c.Hashed = value == ByHash; c.Hashed {
				c.By = ByField
			}
		case "share":
			c.Share = int(l.integer(value, "a number of keys such as share=2"))
		case "ids":
			c.IDs = int(l.integer(value, "a number of keys such as ids=8"))
		default:
			return false
		}
		return true
	})
	c.Absent = l.optional("absent")
	return c
}

func (l *line) integers(text string) []int64 {
	var all []int64
	for _, one := range strings.Split(text, ",") {
		all = append(all, l.integer(one, "numbers such as bounds=10,20"))
	}
	return all
}

// op reads what follows the start time.
func (l *line) op(id int) Op {
	l.keyword("client")
	o := Op{ID: id, Client: l.number("the client's number"), Kind: OpKind(l.word("an operation"))}
	if !o.Kind.Known() {
		l.fail("unknown operation "+quoteWord(string(o.Kind)), "expected one of "+opkind.List())
	}
	o.NS = l.word("a namespace such as test.docs")
	kind := o.Kind.Of()
	if kind.Shape == opkind.Ranged {
		o.Key, o.To = l.span("a range of keys such as [0, 20)")
	}
	l.opPairs(&o)
	absent := l.optional("if-absent")
	l.opPairs(&o)
	o.Causal = l.optional("causal")
	o.Batched = l.optional("batched")
	o.Together = l.optional("together")
	o.DropTarget = l.optional("drop-target")
	if kind.Expects() && absent == (o.Expect != "") {
		l.fail("the "+string(o.Kind)+" does not say what it expects",
			"expected either if=VALUE or if-absent")
	}
	if !kind.Expects() && (absent || o.Expect != "") {
		l.fail("a "+string(o.Kind)+" expects nothing", "expected no if= and no if-absent")
	}
	return o
}

func (l *line) opPairs(o *Op) {
	l.pairs("k=, v=, if=, batch=, rest=, concern=, prefer=, age=, w=, wtimeout= and into=",
		func(name, value string) bool {
			switch name {
			case "k":
				o.Key = l.integer(value, "a key such as k=17")
			case "v":
				o.Value = value
			case "if":
				o.Expect = value
			case "batch":
				o.Batch = int(l.integer(value, "a number of documents such as batch=3"))
			case "rest":
				o.Rest = l.time(value, "a time such as rest=20ms")
			case "concern":
				o.Concern = value
			case "prefer":
				o.Prefer = value
			case "age":
				o.Age = l.time(value, "a time such as age=400ms")
			case "w":
				o.W = int(l.integer(value, "a number of members such as w=2"))
			case "wtimeout":
				o.WTimeout = l.time(value, "a time such as wtimeout=20ms")
			case "into":
				o.Into = value
			default:
				return false
			}
			return true
		})
}

// migration reads what follows the start time.
func (l *line) migration(id int) Migration {
	m := Migration{ID: id, NS: l.word("a namespace such as test.docs")}
	m.Min, m.Max = l.span("a range such as [MinKey, 20)")
	m.To = l.destination()
	m.WaitDelete = l.optional("wait-delete")
	l.pairs("open=, force-jumbo= and throttle=", func(name, value string) bool {
		switch name {
		case "open":
			m.Open = value
		case "force-jumbo":
			m.ForceJumbo = value
		case "throttle":
			m.Throttle = value
		default:
			return false
		}
		return true
	})
	return m
}

// movePrimary reads what follows the start time.
func (l *line) movePrimary(id int, at time.Duration) MovePrimary {
	return MovePrimary{
		ID:       id,
		At:       at,
		Database: l.word("a database such as test"),
		To:       l.destination(),
	}
}

// destination reads "to shard-b".
func (l *line) destination() int {
	l.keyword("to")
	name := l.word("a shard such as shard-b")
	to, known := shardNumber(name)
	if !known {
		l.fail(quoteWord(name)+" is no shard", "expected a shard such as shard-b")
	}
	return to
}

func (l *line) stream() Stream {
	w := Stream{ID: l.number("the stream's number")}
	l.keyword("at")
	w.At = l.duration("a time such as 30ms")
	w.NS = l.word("a namespace such as test.docs")
	numbers := map[string]*int{"batch": &w.Batch, "resume": &w.Resume, "back": &w.Back}
	l.pairs("poll=, batch=, resume= and back=", func(name, value string) bool {
		if name == "poll" {
			w.Poll = l.time(value, "a time such as poll=20ms")
			return true
		}
		field, known := numbers[name]
		if known {
			*field = int(l.integer(value, "a number such as "+name+"=3"))
		}
		return known
	})
	return w
}

func (l *line) fault() Fault {
	f := Fault{ID: l.number("the fault's number")}
	l.keyword("at")
	f.When = l.trigger()
	f.Kind = l.word("a fault such as crash")
	f.Target = l.word("a target such as donor.primary")
	l.pairs("arguments such as odds=20", func(name, value string) bool {
		f.Args = append(f.Args, Setting{name, value})
		return true
	})
	if l.optional("for") {
		f.For = l.duration("a time such as 800ms")
	}
	if l.optional("until") {
		until := l.trigger()
		f.Until = &until
	}
	return f
}

func (l *line) trigger() Trigger {
	const expected = "a time such as 120ms, or a site and which pass such as donor.cloneDone #2"
	if startsAsTime(l.peek()) {
		return Trigger{At: l.duration(expected)}
	}
	t := Trigger{
		Site: l.word(expected),
		Nth:  int(l.occurrence("which pass of the site, such as #1")),
	}
	if l.optional("after") {
		t.After = l.duration("a time such as 5ms")
	}
	if l.optional("by") {
		t.Node = l.word("a node such as shard-a.1 or donor.primary")
	}
	return t
}

func (l *line) decision() Decision {
	d := Decision{Kind: l.word("a kind of choice such as net.loss"), Site: l.word("a site")}
	d.Occurrence = l.occurrence("an occurrence such as #17")
	l.keyword("=")
	const answer = "an answer such as 1"
	d.Answer = l.integer(l.word(answer), answer)
	return d
}
