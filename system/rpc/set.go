package rpc

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/settings"
)

// Set knows a replica set from outside: its members and which of them was last handled be the
// primary. It sends each command once; whether a failed one may be sent again is its caller's
// decision.
type Set struct {
	ep       *Endpoint
	name     string
	members  []env.NodeID
	settings *settings.Settings
	hint     env.NodeID
	next     int // the member to ask first when there is no hint
}

// NewSet returns the view of a replica set that has not been contacted yet.
func NewSet(ep *Endpoint, name string, members []env.NodeID, s *settings.Settings) *Set {
	return &Set{ep: ep, name: name, members: members, settings: s}
}

// Name is the replica set's name.
func (s *Set) Name() string { return s.name }

// Host is how the catalog names the replica set and its members.
func (s *Set) Host() string { return fmt.Sprintf("%s/%v", s.name, s.members) }

// CallPrimary sends req to the set's primary, which it finds first when it is not known.
// NotWritablePrimary means that none was found, or that the one asked refused; network errors are
// those of the call. In both cases the next call looks for the primary again.
func CallPrimary[Resp any](
	t env.Task, s *Set, req env.Message, timeout time.Duration,
) (*Resp, error) {
	resp, _, err := CallPrimaryAt[Resp](t, s, req, timeout)
	return resp, err
}

// CallPrimaryAt is CallPrimary for callers that come back to the same member; it also returns which
// one answered.
func CallPrimaryAt[Resp any](
	t env.Task, s *Set, req env.Message, timeout time.Duration,
) (*Resp, env.NodeID, error) {
	primary, err := s.Primary(t)
	if err != nil {
		return nil, "", err
	}
	resp, err := Call[Resp](t, s.ep, primary, req, timeout)
	if Gone(err) {
		s.Forget(primary)
	}
	return resp, primary, err
}

// ChooseSecondary is the kind of choice by which the member that answers a secondary read is
// picked.
const ChooseSecondary env.Choice = "rpc.secondary"

// CallSecondaryAt sends req to a member that is not known to be the primary, and returns which one
// was asked. That member decides whether to answer. A set of one member has only its primary.
func CallSecondaryAt[Resp any](
	t env.Task, s *Set, req env.Message, timeout time.Duration,
) (*Resp, env.NodeID, error) {
	others := slices.DeleteFunc(slices.Clone(s.members), func(m env.NodeID) bool {
		return m == s.hint
	})
	if len(others) == 0 {
		return CallPrimaryAt[Resp](t, s, req, timeout)
	}
	node := s.ep.Node()
	member := others[node.Choose(ChooseSecondary, string(node.ID())+" "+s.name, len(others))]
	resp, err := Call[Resp](t, s.ep, member, req, timeout)
	return resp, member, err
}

// askAttempts is how often AskPrimary sends a message.
const askAttempts = 3

// AskPrimary sends a message that may be repeated to the primary. It repeats it, after a while,
// when the failure is one that another primary, or the same one later, may not have.
func AskPrimary[Resp any](
	t env.Task, s *Set, req env.Message, timeout time.Duration,
) (resp *Resp, err error) {
	for range askAttempts {
		resp, err = CallPrimary[Resp](t, s, req, timeout)
		if !Gone(err) || t.Err() != nil {
			return resp, err
		}
		if err := t.Sleep(s.settings.HeartbeatInterval); err != nil {
			return nil, err
		}
	}
	return resp, err
}

// CallAny sends req to one member, and after a failure that another may not share to the next, each
// once. While another is left, a member that is cut off costs no more than an election does.
func CallAny[Resp any](
	t env.Task, s *Set, req env.Message, timeout time.Duration,
) (resp *Resp, err error) {
	for i := range s.members {
		member, wait := s.members[s.next%len(s.members)], timeout
		quick := s.settings.ElectionTimeout
		if i+1 < len(s.members) && (timeout <= 0 || timeout > quick) {
			wait = quick
		}
		resp, err = Call[Resp](t, s.ep, member, req, wait)
		if !Gone(
			err,
		) && !errcode.Is(err, errcode.ReadConcernMajorityNotAvailableYet, errcode.ExceededTimeLimit,
			errcode.CommandNotFound) || t.Err() != nil {
			return resp, err
		}
		s.next++
	}
	return nil, err
}

// Question is what any member may answer by what it knows, or the primary by what is newest.
type Question interface{ OfPrimary() env.Message }

// CallSure is CallAny, except that the primary has the last word when a member says that there is
// nothing of that name: the member may have fallen behind, and what it has not heard of has no
// version by which anybody else would notice.
func CallSure[Resp any](
	t env.Task, s *Set, req Question, timeout time.Duration,
) (*Resp, error) {
	resp, err := CallAny[Resp](t, s, req, timeout)
	if !errcode.Is(err, errcode.NamespaceNotFound) {
		return resp, err
	}
	return AskPrimary[Resp](t, s, req.OfPrimary(), timeout)
}

// Gone reports whether err says that the node asked does not answer or is not (any more) the
// primary.
func Gone(err error) bool {
	return errcode.Is(err, errcode.NetworkTimeout, errcode.HostUnreachable,
		errcode.NotWritablePrimary, errcode.PrimarySteppedDown,
		errcode.InterruptedDueToReplStateChange)
}

// Forget drops the hint when it names that node.
func (s *Set) Forget(node env.NodeID) {
	if s.hint == node {
		s.hint = ""
		s.next = slices.Index(s.members, node) + 1
	}
}

// Primary returns the member believed to be the primary. Without a hint it asks the members one
// after the other, those named by others first, and fails with NotWritablePrimary when none says
// that it is.
func (s *Set) Primary(t env.Task) (env.NodeID, error) {
	if s.hint != "" {
		return s.hint, nil
	}
	asked := make([]bool, len(s.members))
	for i := s.next % len(s.members); i >= 0; i = s.unasked(asked) {
		asked[i] = true
		hello, err := Call[command.HelloReply](t, s.ep, s.members[i], &command.Hello{},
			2*s.settings.HeartbeatInterval)
		if t.Err() != nil {
			return "", t.Err()
		}
		if s.hint != "" { // another task found it meanwhile
			return s.hint, nil
		}
		if err != nil {
			continue
		}
		if hello.Writable {
			s.hint = s.members[i]
			return s.hint, nil
		}
		if named := slices.Index(s.members, env.NodeID(hello.Primary)); named >= 0 {
			s.next = named
		}
	}
	return "", errcode.New(errcode.NotWritablePrimary,
		"no member of %s says that it is the primary", s.name)
}

// unasked prefers the member that next points at, then the others in order; -1 when all were asked.
func (s *Set) unasked(asked []bool) int {
	for i := range s.members {
		if m := (s.next + i) % len(s.members); !asked[m] {
			return m
		}
	}
	return -1
}
