package router

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// passOn hands requests of one type on to the config server. Operations on whole collections are
// its own; what became of them the router learns like any other change. A request in a session is
// sent once, for its client knows how to repeat it.
func passOn[Req any](
	r *Router, session func(*Req) *command.Session,
) func(t env.Task, _ env.NodeID, req *Req) (*command.Done, error) {
	return func(t env.Task, _ env.NodeID, req *Req) (*command.Done, error) {
		if session(req).ID != "" {
			return rpc.CallPrimary[command.Done](t, r.config, req, r.settings.AttemptTimeout)
		}
		own := *req
		*session(&own) = r.operations.take(r)
		defer r.operations.free(*session(&own))
		return r.toTheEnd(t, &own)
	}
}

// toTheEnd has the config server carry out a request in a session of the router's, and repeats it
// until the operation is over: that may take as long as the migrations before it, and a primary
// that takes it over knows by the session that it was asked for already. It gives up when there has
// been no primary for as long as a command may take.
func (r *Router) toTheEnd(t env.Task, req env.Message) (*command.Done, error) {
	now := r.ep.Node().Mono
	ends, led := now().Add(r.settings.MoveWait), now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		done, err := rpc.CallPrimary[command.Done](t, r.config, req, r.settings.CommandTimeout)
		again := rpc.Gone(err) || errcode.Is(err, errcode.Interrupted, errcode.ExceededTimeLimit)
		if !errcode.Is(err, errcode.NotWritablePrimary, errcode.HostUnreachable) {
			led = now()
		}
		if !again || now().Add(pause) >= ends || now().Sub(led) > r.settings.CommandTimeout {
			return done, err
		}
		if err := t.Sleep(pause); err != nil {
			return nil, err
		}
	}
}

// operationSessions are the sessions of the router's own: as many as operations have been in
// progress at once, as the config server remembers each.
type operationSessions struct {
	idle   []command.Session
	opened int
}

// take returns a session that nobody uses, with a number that is new in it. The time makes it one
// of its own also where a router has forgotten its earlier incarnations.
func (o *operationSessions) take(r *Router) (s command.Session) {
	if last := len(o.idle) - 1; last >= 0 {
		s, o.idle = o.idle[last], o.idle[:last]
	} else {
		o.opened++
		s.ID = fmt.Sprintf("%s/%d/%s/operation %d",
			r.ep.Node().ID(), r.ep.Node().Incarnation(), r.ep.Clock().Tick(), o.opened)
	}
	s.Txn++
	return s
}

func (o *operationSessions) free(s command.Session) { o.idle = append(o.idle, s) }
