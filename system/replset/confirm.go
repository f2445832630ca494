package replset

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// Confirm waits for proof that the member was still the leader at some instant after the call, and
// until everything applied before the call is committed: what was read before it was then the
// newest. Errors: errcode.PrimarySteppedDown and errcode.NotWritablePrimary without leadership,
// errcode.ExceededTimeLimit, the task's own error.
func (m *Member) Confirm(t env.Task) error {
	return m.confirm(t, m.cfg.Settings.WriteConcernTimeout)
}

func (m *Member) confirm(t env.Task, timeout time.Duration) error {
	if err := m.needLeader(); err != nil {
		return err
	}
	at, term := m.Applied(), m.led
	number := m.proofs.request(m)
	return m.wait(t, timeout, func() (bool, error) {
		if !m.leadsIn(term) {
			return false, errcode.New(errcode.PrimarySteppedDown,
				"%s no longer leads replica set %s in term %d", m.cfg.Self, m.cfg.Name, term)
		}
		return m.proofs.given >= number && m.committed.Index >= at.Index, nil
	})
}

// proofs show that a leader leads, as raft's read indexes do, at less cost: those ask every member
// each time. A numbered heartbeat goes to as many members as make a majority with the leader, and
// with the next tick, if it has not been answered, to all of them.
//
// Invariant: a member answers in the leader's term only if it had not elected another leader when
// the heartbeat arrived. So the answer to a number proves the leadership after every request up to
// that number.
type proofs struct {
	requested, given uint64
	// others are the other members, those that answered something last first, when it matters.
	others  []answerer
	answers uint64
}

// answerer is another member: which of the leader's answers was its last, and the highest number
// that it has answered.
type answerer struct{ id, last, number uint64 }

func newProofs(self uint64, members []uint64) (p proofs) {
	for _, id := range members {
		if id != self {
			p.others = append(p.others, answerer{id: id})
		}
	}
	return p
}

// needed is how many others make a majority with the leader.
func (p *proofs) needed() int { return (len(p.others) + 1) / 2 }

// request asks those who answered last, and returns the number of the request.
func (p *proofs) request(m *Member) uint64 {
	p.requested++
	if p.needed() == 0 {
		p.given = p.requested
	}
	slices.SortStableFunc(p.others, func(a, b answerer) int { return cmp.Compare(b.last, a.last) })
	p.ask(m, p.others[:p.needed()])
	return p.requested
}

// repeat asks everybody while an answer is missing.
func (p *proofs) repeat(m *Member) {
	if p.given < p.requested {
		p.ask(m, p.others)
	}
}

func (p *proofs) ask(m *Member, whom []answerer) {
	for i := range whom {
		m.deliver(&pb.Message{
			Type: pb.MsgHeartbeat, From: m.self, To: whom[i].id, Term: m.term,
			Context: binary.BigEndian.AppendUint64(nil, p.requested),
		})
	}
}

// proves notes the answer of another member to the leader. It is true for one that does nothing
// but prove the leadership, which raft need not see.
func (m *Member) proves(msg *pb.Message) bool {
	if !m.leading || msg.Term != m.term ||
		msg.Type != pb.MsgHeartbeatResp && msg.Type != pb.MsgAppResp {
		return false
	}
	p := &m.proofs
	i := slices.IndexFunc(p.others, func(a answerer) bool { return a.id == msg.From })
	p.answers++
	p.others[i].last = p.answers
	if len(msg.Context) == 0 {
		return false
	}
	number := binary.BigEndian.Uint64(msg.Context)
	p.others[i].number = max(p.others[i].number, number)
	if p.given < number && p.answered(number) {
		p.given = number
		m.wake()
	}
	return true
}

// answered reports whether a majority, the leader among it, has answered a number.
func (p *proofs) answered(number uint64) bool {
	n := 0
	for i := range p.others {
		if p.others[i].number >= number {
			n++
		}
	}
	return n >= p.needed()
}
