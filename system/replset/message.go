package replset

import (
	pb "go.etcd.io/raft/v3/raftpb"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
)

func init() { codec.Register[Raft]() }

// Raft is what members of a replica set send each other, one way: a message of the consensus
// protocol. Entries within it may be shared with the sender's log, which never changes an entry.
type Raft pb.Message

func (r *Raft) message() *pb.Message { return (*pb.Message)(r) }

// MarshalBSON wraps raft's own encoding.
func (r *Raft) MarshalBSON() ([]byte, error) {
	b, err := r.message().Marshal()
	if err != nil {
		return nil, err
	}
	return bson.Marshal(bson.D{{Key: "m", Value: b}})
}

// UnmarshalBSON is the inverse of MarshalBSON.
func (r *Raft) UnmarshalBSON(b []byte) error {
	var outer struct {
		M []byte `bson:"m"`
	}
	if err := bson.Unmarshal(b, &outer); err != nil {
		return err
	}
	*r = Raft{}
	return r.message().Unmarshal(outer.M)
}

// Class names the message's type for link rules and traces, for example "MsgApp".
func (r *Raft) Class() string { return r.Type.String() }

// receive takes a message from another member.
func (m *Member) receive(from env.NodeID, in env.Message) {
	r, ok := in.(*Raft)
	if !ok {
		m.fail("%s sent %T", from, in)
	}
	msg := r.message()
	m.listen(msg)
	if m.proves(msg) {
		return
	}
	if m.knows(msg) {
		m.deliver(&pb.Message{Type: pb.MsgHeartbeatResp, From: m.self, To: msg.From, Term: m.term,
			Context: msg.Context})
		return
	}
	m.probing = msg.Type == pb.MsgHeartbeatResp || msg.Reject
	m.step(msg)
	m.readyLoop()
	m.probing = false
	m.voted(msg)
	m.count(msg)
}

// knows recognises a heartbeat that tells a follower nothing new, as most do. raft would give the
// same answer, by way of a Ready. It must hear of one after ticks, which it counts from the last.
func (m *Member) knows(msg *pb.Message) bool {
	return msg.Type == pb.MsgHeartbeat && msg.Term == m.term && msg.From == m.lead &&
		msg.Commit <= m.committed.Index && !m.election.counting
}

// redundant recognises an append that only moves the commit index: the next entries, or else the
// next heartbeat, carry it as well. Appends without entries that follow a heartbeat's answer or a
// rejection probe the receiver's log.
func (m *Member) redundant(msg *pb.Message) bool {
	return msg.Type == pb.MsgApp && len(msg.Entries) == 0 && !m.probing
}

// deliver sends a message of raft, or steps one that the member addresses to itself.
func (m *Member) deliver(msg *pb.Message) {
	to := msg.To
	if to == m.self {
		m.step(msg)
		return
	}
	if m.redundant(msg) {
		return
	}
	if msg.Type == pb.MsgSnap {
		m.expectSnapshot(to)
	}
	// Without spare capacity a receiver that appends to the slice copies it.
	msg.Entries = msg.Entries[:len(msg.Entries):len(msg.Entries)]
	m.node.Send(m.cfg.Members[to-1], (*Raft)(msg))
}
