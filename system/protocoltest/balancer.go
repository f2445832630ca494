package protocoltest

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// actionLog is the collection in which the balancer records what it has done.
const actionLog = "config.actionlog"

// balancerRequests are what an operator asks of the balancer.
func (r *Rig) balancerRequests() Verbs {
	return Verbs{
		// balancer start|stop|status: asks the config server; collection: whether test.docs is as
		// the balancer would have it.
		"balancer": r.balancer,
		// setting balancer mode=full window=(23:00,7:00) throttle=majority wait jumbo: sets these
		// fields; window=none removes it. setting chunksize bytes=400. Without fields the document
		// is removed.
		"setting": r.putSetting,
		// parameter config name=value: changes a setting of every member of the set while it runs.
		"parameter": r.setParameter,
	}
}

func (r *Rig) balancer(l Line) error {
	switch what := l.Word(0); what {
	case "start":
		r.order("balancer start", &command.BalancerStart{})
	case "stop":
		r.order("balancer stop", &command.BalancerStop{})
	case "status":
		r.consult("balancer status", r.balancerStatus)
	case "collection":
		r.consult("balancer status of "+Sharded, r.collectionStatus)
	default:
		return fmt.Errorf("the balancer cannot be asked to %s", what)
	}
	return nil
}

func (r *Rig) balancerStatus(t env.Task) (string, error) {
	config, req := r.Operator().Sets[configsvr.Name], &command.BalancerStatus{}
	reply, err := rpc.AskPrimary[command.BalancerStatusReply](t, config, req, time.Minute)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s, %d rounds", reply.Mode, reply.Rounds)
	if reply.InRound {
		text += ", in a round"
	}
	return text, nil
}

func (r *Rig) collectionStatus(t env.Task) (string, error) {
	config, req := r.Operator().Sets[configsvr.Name], &command.BalancerCollectionStatus{NS: Sharded}
	reply, err := rpc.AskPrimary[command.BalancerCollectionStatusReply](t, config, req, time.Minute)
	if err != nil || reply.Compliant {
		return "compliant", err
	}
	return reply.FirstViolation, nil
}

// order sends a command to the primary of the config server; one that dies over it has not
// answered.
func (r *Rig) order(what string, req env.Message) {
	r.consult(what, func(t env.Task) (string, error) {
		config := r.Operator().Sets[configsvr.Name]
		_, err := rpc.AskPrimary[command.Done](t, config, req, time.Minute)
		return "ok", err
	})
}

// consult has the operator ask something, and shows what is answered.
func (r *Rig) consult(what string, ask func(t env.Task) (string, error)) {
	r.Request(r.Operator(), func(t env.Task) {
		answer, err := ask(t)
		if err != nil {
			answer = err.Error()
		}
		r.Say("%s: %s", what, answer)
	})
}

func (r *Rig) putSetting(l Line) error {
	id, doc := l.Word(0), bson.D{}
	for _, a := range l.d.CmdArgs[1:] {
		field, err := settingField(a.Key, a.Vals)
		if err != nil {
			return err
		}
		doc = append(doc, field)
	}
	req := &command.PutSetting{ID: id}
	if len(doc) > 0 { // otherwise the setting is removed
		req.Doc = raw(doc)
	}
	r.order("setting "+id, req)
	return nil
}

// settingField is an argument of the verb "setting" as config.settings has it.
func settingField(name string, vals []string) (bson.E, error) {
	switch name {
	case "mode":
		return bson.E{Key: "mode", Value: vals[0]}, nil
	case "window":
		if len(vals) == 1 { // window=none
			return bson.E{Key: "activeWindow"}, nil
		}
		hours := bson.D{{Key: "start", Value: vals[0]}, {Key: "stop", Value: vals[1]}}
		return bson.E{Key: "activeWindow", Value: hours}, nil
	case "throttle":
		return bson.E{Key: "_secondaryThrottle", Value: bson.D{{Key: "w", Value: vals[0]}}}, nil
	case "wait":
		return bson.E{Key: "_waitForDelete", Value: true}, nil
	case "jumbo":
		return bson.E{Key: "attemptToBalanceJumboChunks", Value: true}, nil
	case "bytes":
		return bson.E{Key: "value", Value: number(vals[0])}, nil
	case "enabled":
		return bson.E{Key: "enabled", Value: vals[0] == "true"}, nil
	}
	return bson.E{}, fmt.Errorf("there is no setting %q", name)
}

func (r *Rig) setParameter(l Line) error {
	for _, id := range r.nodes(l.Word(0)) {
		for _, a := range l.d.CmdArgs[1:] {
			r.Request(r.Operator(), func(t env.Task) {
				ep := r.Operator().Endpoint
				req := &command.SetParameter{Name: a.Key, Value: a.Vals[0]}
				if _, err := rpc.Call[command.Done](t, ep, id, req, time.Minute); err != nil {
					r.Say("parameter %s of %s: %v", a.Key, id, err)
				}
			})
		}
	}
	return nil
}

// showActions shows what the balancer has recorded, without times.
func (r *Rig) showActions(Line) error {
	primary := slices.Index(r.nodes(configsvr.Name), r.Primary(configsvr.Name))
	for _, doc := range r.Cluster.ConfigDocuments(actionLog)[primary] {
		details, _ := doc.Lookup("details").DocumentOK()
		elements, err := details.Elements()
		if err != nil {
			return err
		}
		text := doc.Lookup("what").StringValue() + " by " + doc.Lookup("server").StringValue()
		for _, e := range elements {
			if e.Key() == "executionTimeMillis" {
				continue
			}
			var value any
			if err := e.Value().Unmarshal(&value); err != nil {
				return err
			}
			text += fmt.Sprintf(" %s=%v", e.Key(), value)
		}
		r.Say("%s", text)
	}
	return nil
}
