package sim

import (
	"math/bits"

	"github.com/shardproof/shardproof/histories/keyed"
)

// Probability are a probability in parts per million.
type Probability uint32

// Always is certainty.
const Always Probability = 1_000_000

// Decision is an answer at the gate. Kind, Site and Occurrence (from 1) are the identity of the
// question.
type Decision struct {
	Kind, Site string
	Occurrence uint64
	Answer     int64
}

// The kinds of questions about faults. Sites are "from>to/class" (with ".reply" for replies),
// "node/operation" and "node/file".
const (
	// Is the message lost.
	Loss = "net.loss"
	// Is it delivered twice.
	Duplicate = "net.duplicate"
	// Is the reply to this request lost.
	LoseReply = "net.replyLoss"
	// How much longer does the message take, in nanoseconds.
	Tail = "net.delay"
	// How much longer do all messages of a class on a link take, in nanoseconds; asked once.
	Chain = "net.chainDelay"
	// Does the chain of this message become slower than all others, from it on.
	Demotion = "net.priorityChange"
	// For how long does the task stall at the site, in nanoseconds.
	Stall = "task.stall"
	// How much later does a task run on that has waited after the site, in nanoseconds.
	Waking = "task.waking"
	// Does the step at the site fail, and with which of stepFailures, from 1.
	StepFailure = "task.error"
	// How much longer does the operation take, in nanoseconds.
	DiskTail = "disk.delay"
	// How many bytes that were not synced survive the crash.
	Kept = "disk.survivingBytes"
	// Has the replacement that was in progress in the crash happened.
	Replaced = "disk.replaceDone"
)

// The kinds of choices among equals. Node.Choose adds others.
const (
	latencyKind     = "net.latency"
	copyLatencyKind = "net.duplicateLatency"
	latenessKind    = "net.duplicateLateness"
	diskLatencyKind = "disk.latency"
	yieldKind       = "task.yield"
)

// Choices answers every question that chance decides in a world. The default answer is a hash of
// the seed and of the question's identity, and so does not depend on what else was asked.
//
// There are two sorts of questions. Whether a fault happens has a boring answer, 0: in a planned
// world it is the default, and any other answer is recorded. A choice among equals (a latency, the
// next election timeout) has none; it is asked again in a replay and answered by the same hash.
type Choices struct {
	seed      uint64
	planned   bool
	questions map[questionName]*question
	given     []Decision
	explicit  map[questionName]*plannedAnswers
	recorded  []Decision
	onRecord  func(Decision)
	// calm is set when the network has healed: what has no odds any more does not happen, even if a
	// plan says so.
	calm bool
}

type questionName struct{ kind, site string }

// plannedAnswers are the explicit answers to one question, by occurrence, and which of them were
// asked for.
type plannedAnswers struct {
	answers map[uint64]int64
	used    map[uint64]bool
}

// A question is everything the gate knows of one kind and site. Frequent callers keep it.
type question struct {
	questionName
	hash  uint64
	asked uint64
	plan  *plannedAnswers
}

func newGate(seed uint64, planned bool, decisions []Decision) *Choices {
	g := &Choices{
		seed:      keyed.Mix(seed ^ keyed.Golden),
		planned:   planned,
		questions: make(map[questionName]*question),
		given:     decisions,
	}
	if len(decisions) > 0 {
		g.explicit = make(map[questionName]*plannedAnswers, len(decisions))
	}
	for _, d := range decisions {
		n := questionName{d.Kind, d.Site}
		if g.explicit[n] == nil {
			g.explicit[n] = &plannedAnswers{make(map[uint64]int64), make(map[uint64]bool)}
		}
		g.explicit[n].answers[d.Occurrence] = d.Answer
	}
	return g
}

// question interns a kind and site, for those who do not keep it.
func (g *Choices) question(kind, site string) *question {
	q := g.questions[questionName{kind, site}]
	if q == nil {
		made := g.about(site).ask(kind)
		q = &made
		g.questions[q.questionName] = q
	}
	return q
}

// A questionSite is a site at which several kinds of questions are asked.
type questionSite struct {
	gate *Choices
	site string
	hash uint64
}

func (g *Choices) about(site string) questionSite {
	return questionSite{g, site, hashString(g.seed+1, site)}
}

// ask makes the question of one kind at the place.
func (p questionSite) ask(kind string) question {
	q := question{
		questionName: questionName{kind, p.site},
		hash:         keyed.Mix(addToHash(hashString(p.gate.seed, kind), p.hash)),
	}
	if p.gate.explicit != nil {
		q.plan = p.gate.explicit[q.questionName]
	}
	return q
}

// told is the explicit answer to the question's occurrence.
func (q *question) told(occurrence uint64) (answer int64, ok bool) {
	if q.plan == nil {
		return 0, false
	}
	if answer, ok = q.plan.answers[occurrence]; ok {
		q.plan.used[occurrence] = true
	}
	return answer, ok
}

// Decide asks whether a fault happens.
func (g *Choices) Decide(kind, site string, odds Probability) bool {
	q := g.question(kind, site)
	q.asked++
	return g.decide(q, q.asked, odds)
}

// Pick chooses among n equals: a number in [0,n).
func (g *Choices) Pick(kind, site string, n int) int {
	q := g.question(kind, site)
	q.asked++
	return int(g.pick(q, q.asked, int64(n)))
}

// Decisions are the answers to questions about faults, other than the boring one, in the order of
// asking.
func (g *Choices) Decisions() []Decision { return append([]Decision(nil), g.recorded...) }

// Unused are the explicit decisions whose question was not asked, in their order: a plan that has
// become stale.
func (g *Choices) Unused() []Decision {
	var unused []Decision
	for _, d := range g.given {
		if !g.explicit[questionName{d.Kind, d.Site}].used[d.Occurrence] {
			unused = append(unused, d)
		}
	}
	return unused
}

// decide answers the question about a fault in its given occurrence.
func (g *Choices) decide(q *question, occurrence uint64, odds Probability) bool {
	if odds == 0 && (q.plan == nil || g.calm) {
		return false
	}
	return g.fault(q, occurrence, func(h uint64) int64 {
		if scaleBelow(h, int64(Always)) < int64(odds) {
			return 1
		}
		return 0
	}) != 0
}

// fault answers a question about a fault with more than two answers; draw maps randomness to an
// answer.
func (g *Choices) fault(q *question, occurrence uint64, draw func(uint64) int64) int64 {
	answer, ok := q.told(occurrence)
	if !ok && !g.planned {
		answer = draw(q.bits(occurrence))
	}
	if answer != 0 {
		d := Decision{q.kind, q.site, occurrence, answer}
		g.recorded = append(g.recorded, d)
		if g.onRecord != nil {
			g.onRecord(d)
		}
	}
	return answer
}

// pick answers a choice among n.
func (g *Choices) pick(q *question, occurrence uint64, n int64) int64 {
	if n <= 1 {
		return 0
	}
	if answer, ok := q.told(occurrence); ok {
		return min(max(answer, 0), n-1)
	}
	return scaleBelow(q.bits(occurrence), n)
}

func (q *question) bits(occurrence uint64) uint64 {
	return keyed.Mix(q.hash + occurrence*keyed.Golden)
}

// scaleBelow maps 64 random bits to [0,n) by multiplication. The project's own, since the standard
// library's may change.
func scaleBelow(h uint64, n int64) int64 {
	hi, _ := bits.Mul64(h, uint64(n))
	return int64(hi)
}

// addToHash adds x to the running hash h.
func addToHash(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, x^0xe7037ed1a0b428db)
	return hi ^ lo ^ bits.RotateLeft64(h, 29)
}

func hashString(h uint64, s string) uint64 {
	h = addToHash(h, uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h = addToHash(h, littleEndian(s))
	}
	var last uint64
	for i := range len(s) {
		last = last<<8 | uint64(s[i])
	}
	return addToHash(h, last)
}

func littleEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// amount answers whether a fault of some size happens, and its size, from 1 to most; 0 is the
// boring answer.
func (g *Choices) amount(q *question, occurrence uint64, odds Probability, most int64) int64 {
	if odds == 0 && (q.plan == nil || g.calm) {
		return 0
	}
	return g.fault(q, occurrence, func(h uint64) int64 {
		if scaleBelow(h, int64(Always)) >= int64(odds) {
			return 0
		}
		return 1 + scaleBelow(keyed.Mix(h), most)
	})
}
