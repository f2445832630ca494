package protocoltest_test

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// balancer is what an operator asks of it.
func (r *rig) balancer(l line) error {
	switch what := l.word(0); what {
	case "start":
		r.order("balancer start", &command.BalancerStart{})
	case "stop":
		r.order("balancer stop", &command.BalancerStop{})
	case "status":
		r.consult("balancer status", func(t env.Task) (string, error) {
			reply, err := rpc.AskPrimary[command.BalancerStatusReply](t, r.operator().sets["config"], &command.BalancerStatus{}, time.Minute)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s, %d rounds%s", reply.Mode, reply.Rounds, map[bool]string{true: ", in a round"}[reply.InRound]), nil
		})
	case "collection":
		r.consult("balancer status of "+sharded, func(t env.Task) (string, error) {
			req := &command.BalancerCollectionStatus{NS: sharded}
			reply, err := rpc.AskPrimary[command.BalancerCollectionStatusReply](t, r.operator().sets["config"], req, time.Minute)
			if err != nil || reply.Compliant {
				return "compliant", err
			}
			return reply.FirstViolation, nil
		})
	default:
		return fmt.Errorf("the balancer cannot be asked to %s", what)
	}
	return nil
}

// order sends a command to the primary of the config server; one that dies over it has not answered.
func (r *rig) order(what string, req env.Message) {
	r.consult(what, func(t env.Task) (string, error) {
		_, err := rpc.AskPrimary[command.Done](t, r.operator().sets["config"], req, time.Minute)
		return "ok", err
	})
}

// consult has the operator ask something and says what was answered.
func (r *rig) consult(what string, ask func(t env.Task) (string, error)) {
	r.send(r.operator(), func(t env.Task) {
		answer, err := ask(t)
		if err != nil {
			answer = err.Error()
		}
		r.say("%s: %s", what, answer)
	})
}

func (r *rig) putSetting(l line) error {
	id, doc := l.word(0), bson.D{}
	set := func(name string, value any) { doc = append(doc, bson.E{Key: name, Value: value}) }
	for _, a := range l.d.CmdArgs[1:] {
		switch a.Key {
		case "mode":
			set("mode", a.Vals[0])
		case "window":
			set("activeWindow", bson.D{{Key: "start", Value: a.Vals[0]}, {Key: "stop", Value: a.Vals[1]}})
		case "throttle":
			set("_secondaryThrottle", bson.D{{Key: "w", Value: a.Vals[0]}})
		case "wait":
			set("_waitForDelete", true)
		case "jumbo":
			set("attemptToBalanceJumboChunks", true)
		case "bytes":
			set("value", number(a.Vals[0]))
		case "enabled":
			set("enabled", a.Vals[0] == "true")
		default:
			return fmt.Errorf("nothing can be set that is called %s", a.Key)
		}
	}
	r.order("setting "+id, &command.PutSetting{ID: id, Doc: raw(doc)})
	return nil
}

func (r *rig) setParameter(l line) error {
	for _, id := range r.nodes(l.word(0)) {
		for _, a := range l.d.CmdArgs[1:] {
			r.send(r.operator(), func(t env.Task) {
				req := &command.SetParameter{Name: a.Key, Value: a.Vals[0]}
				if _, err := rpc.Call[command.Done](t, r.operator().ep, id, req, time.Minute); err != nil {
					r.say("parameter %s of %s: %v", a.Key, id, err)
				}
			})
		}
	}
	return nil
}

func (r *rig) tellBalancer(e *trace.Event) {
	switch e.Kind {
	case trace.BalancerRound:
		r.say("%s: round %d %s", e.Node, e.Round(), e.State())
	case trace.BalancerChose:
		r.say("%s: asks %s to move %s to %s (%s)", e.Request(), e.Shard, span(e), e.Peer, e.Why())
	case trace.BalancerState:
		r.say("%s: the balancer is set to %s", e.Node, e.State())
	case trace.BalancerStopped:
		r.say("%s: the balancer is stopped", e.Node)
	}
}

// actions shows what the balancer has recorded, without times.
func (r *rig) actions(line) error {
	for _, doc := range r.cluster.ConfigDocuments(balancer.ActionLog)[slices.Index(r.nodes("config"), r.cluster.Primary("config"))] {
		details, _ := doc.Lookup("details").DocumentOK()
		elements, err := details.Elements()
		if err != nil {
			return err
		}
		text := doc.Lookup("what").StringValue()
		for _, e := range elements {
			if e.Key() != "executionTimeMillis" {
				var value any
				r.must(e.Value().Unmarshal(&value))
				text += fmt.Sprintf(" %s=%v", e.Key(), value)
			}
		}
		r.say("%s", text)
	}
	return nil
}
