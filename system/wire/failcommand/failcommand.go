// Package failcommand is MongoDB's fail point for tests of clients: commands that are chosen by
// name fail, hang or lose their connection.
//
// Promise: the next commands that match are affected, as many as were asked for, and no others;
// configureFailPoint itself is never affected.
//
// Refusal: it has an effect only on the server to which configureFailPoint was sent.
package failcommand

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

const name = "failCommand"

// afterCheckout is a fail point of getMore alone.
const afterCheckout = "failGetMoreAfterCursorCheckout"

// Point is the fail point of one server.
type Point struct {
	on bool
	// skip commands pass first; then left fail, any number if it is negative.
	skip, left int64
	entered    int64
	commands   []string
	appName    string
	fate       Fate
}

// Fate is what happens to a command. The zero Fate is nothing.
type Fate struct {
	// Block is how long it waits before anything else happens.
	Block time.Duration
	// Close ends the connection without an answer.
	Close bool
	// Failure is the answer instead of the command's, if it is not nil.
	Failure *reply.Failure
	// ConcernError, and Labels with it, are added to the command's own answer.
	ConcernError bson.Raw
	Labels       []string
}

// Commands are the commands that the point answers, by name.
func (p *Point) Commands() map[string]request.Handler {
	return map[string]request.Handler{"configureFailPoint": p.configure}
}

// Meet decides the fate of a request.
func (p *Point) Meet(r *request.Request) Fate {
	switch {
	case !p.on || !slices.Contains(p.commands, r.Name) || r.Name == "configureFailPoint":
		return Fate{}
	case p.appName != "" && p.appName != r.AppName:
		return Fate{}
	case p.skip > 0:
		p.skip--
		return Fate{}
	case p.left == 0:
		p.on = false
		return Fate{}
	case p.left > 0:
		p.left--
		p.on = p.left > 0
	}
	p.entered++
	return p.fate
}

func (p *Point) configure(_ env.Task, r *request.Request) (bson.D, error) {
	which, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	if which != name && which != afterCheckout {
		return nil, errcode.New(errcode.BadValue, "there is no fail point %q here", which)
	}
	count := p.entered
	next := Point{entered: count}
	if err := next.mode(r); err != nil {
		return nil, err
	}
	data, err := r.Document("data")
	if err == nil && next.on {
		err = next.read(data)
	}
	if which == afterCheckout {
		next.commands = []string{"getMore"}
		if f := next.fate.Failure; f != nil {
			reply.LabelChangeStream(f)
		}
	}
	if err != nil {
		return nil, err
	}
	*p = next
	return reply.Result(bson.E{Key: "count", Value: int32(count)}), nil
}

func (p *Point) mode(r *request.Request) error {
	v := r.Value("mode")
	text, _ := v.StringValueOK()
	doc, isDoc := v.DocumentOK()
	var err error
	switch {
	case text == "off":
	case text == "alwaysOn":
		p.on, p.left = true, -1
	case isDoc && request.Has(doc, "times"):
		p.left, err = request.Int(doc, "times", 0)
		p.on = p.left > 0
	case isDoc && request.Has(doc, "skip"):
		p.on, p.left = true, -1
		p.skip, err = request.Int(doc, "skip", 0)
	default:
		err = errcode.New(errcode.BadValue, "there is no mode %v", v)
	}
	return err
}

func (p *Point) read(data bson.Raw) (err error) {
	if p.commands, err = texts(data, "failCommands"); err != nil {
		return err
	}
	if p.appName, err = request.Text(data, "appName", ""); err != nil {
		return err
	}
	if request.Bool(data, "blockConnection", false) {
		millis, err := request.Int(data, "blockTimeMS", 0)
		if err != nil {
			return err
		}
		p.fate.Block = time.Duration(millis) * time.Millisecond
	}
	p.fate.Close = request.Bool(data, "closeConnection", false)
	if p.fate.Labels, err = texts(data, "errorLabels"); err != nil {
		return err
	}
	if p.fate.ConcernError, err = request.Document(data, "writeConcernError"); err != nil {
		return err
	}
	if !request.Has(data, "errorCode") {
		return nil
	}
	code, err := request.Int(data, "errorCode", 0)
	p.fate.Failure = &reply.Failure{
		Number: int32(code), Message: "Failing command via 'failCommand' failpoint",
		Labels: p.fate.Labels,
	}
	return err
}

func texts(doc bson.Raw, name string) (all []string, err error) {
	v, err := doc.LookupErr(name)
	if err != nil {
		return nil, nil
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil, errcode.New(reply.TypeMismatch, "%s must be an array, not %v", name, v)
	}
	values, err := array.Values()
	for _, v := range values {
		text, ok := v.StringValueOK()
		if !ok {
			return nil, errcode.New(reply.TypeMismatch, "%s holds texts, not %v", name, v)
		}
		all = append(all, text)
	}
	return all, err
}

// Amend adds the fields of the fate to an answer.
func (f *Fate) Amend(doc bson.D) bson.D {
	if f.ConcernError == nil {
		return doc
	}
	doc = append(doc, bson.E{Key: "writeConcernError", Value: f.ConcernError})
	if len(f.Labels) > 0 {
		doc = append(doc, bson.E{Key: "errorLabels", Value: f.Labels})
	}
	return doc
}
