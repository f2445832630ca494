package shardstore

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
)

// classifier names messages: a command by its type, whatever is no command by its own. An operation
// on a whole collection that is no statement of a session may not be delivered twice, as others
// may.
func classifier() func(env.Message) string {
	type class struct {
		name  string
		whole bool
	}
	known := make(map[reflect.Type]class)
	return func(m env.Message) string {
		if e, ok := m.(*rpc.Envelope); ok && e.Body != nil {
			m = e.Body
		}
		t := reflect.TypeOf(m)
		c, ok := known[t]
		if !ok {
			c = class{t.Elem().Name(), isWhole(m)}
			known[t] = c
		}
		if c.whole && statementOf(m).ID == "" {
			return faults.Unnumbered
		}
		return c.name
	}
}

// isWhole says whether a message is a request for an operation on a whole sharded collection.
func isWhole(m env.Message) bool {
	switch m.(type) {
	case *command.ShardCollection, *command.DropCollection, *command.RenameCollection,
		*command.CreateIndex, *command.DropIndex:
		return true
	}
	return false
}

// classes are the names of classifier.
func classes() []string {
	all := append(codec.Registered(), faults.Unnumbered)
	for i, name := range all {
		all[i] = name[strings.LastIndex(name, ".")+1:]
	}
	return all
}

// answerText says what a reply answers, for people: the refusal, or the fields that are set.
func answerText(m env.Message) string {
	if e, ok := m.(*rpc.Envelope); ok {
		if e.Err != nil {
			return e.Err.Error()
		}
		m = e.Body
	}
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return fmt.Sprintf("%v", m)
	}
	var set []string
	for f, value := range v.Fields() {
		if text := valueText(value); text != "" && f.IsExported() {
			set = append(set, f.Name+" "+text)
		}
	}
	return strings.TrimSpace(v.Type().Name() + " " + strings.Join(set, ", "))
}

// valueText is a field's value for people, empty when it is not set or takes more than a few words.
func valueText(v reflect.Value) string {
	switch {
	case v.IsZero():
		return ""
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		return fmt.Sprintf("(%d)", v.Len())
	case v.Kind() == reflect.Struct || v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return "set"
	}
	return fmt.Sprint(v.Interface())
}

// tell makes of an exchange what a story may tell of it: what was asked for with which arguments,
// what the answer was, and which documents it brought. The sites that a write passes name its
// session.
func tell(x *env.Exchange) (told *trace.ExchangedEvent, about string) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok || !worthTelling(x, asked.Body) {
		return nil, ""
	}
	e := &trace.ExchangedEvent{
		Peer: string(x.From), NS: collectionOf(asked.Body), Request: nameOf(asked.Body),
		Arguments: fields(asked.Body, ""), Arrived: int64(x.Began),
	}
	switch said, _ := x.Reply.(*rpc.Envelope); {
	case x.Err != nil:
		e.Answer = x.Err.Error()
	case said != nil && said.Err != nil:
		e.Answer = said.Err.Error()
	case said != nil:
		e.Answer, e.Carried = messageText(said.Body), carried(said.Body)
	}
	return e, sessionOf(asked.Body)
}

// collectionOf is the collection that a command is about: of a participant's it is in its
// description.
func collectionOf(body env.Message) string {
	if p, ok := body.(*command.ShardsvrParticipate); ok {
		return p.Collection.NS
	}
	return subject(body)
}

// sessionOf is the session of a write, empty for none.
func sessionOf(body env.Message) string {
	f := reflect.ValueOf(body).Elem().FieldByName("Session")
	if !f.IsValid() {
		return ""
	}
	session, _ := f.Interface().(command.Session)
	return session.ID
}

// worthTelling leaves out what is asked all the time and decides nothing, and what routers are
// asked by clients, which the history has.
func worthTelling(x *env.Exchange, body env.Message) bool {
	switch body.(type) {
	case *command.Hello, *command.Audit, *command.ShardingStatistics, *command.AppendOplogNote,
		*command.GetRoutingTable, *command.ReadCatalog, *command.LogChange, *command.KillCursors:
		return false
	case *command.NextChanges:
		return true // what a reader has passed, the history has without a time
	}
	return !strings.HasPrefix(string(x.To), "router.") || strings.HasPrefix(string(x.From),
		"operator.")
}

// messageText is a message by its name and its fields.
func messageText(m env.Message) string {
	if w, ok := m.(*command.Written); ok {
		return writtenText(w)
	}
	return strings.TrimSpace(nameOf(m) + " " + strings.Join(fields(m, "not "), ", "))
}

// writtenText is the answer to a write, in the words of what judges it.
func writtenText(w *command.Written) string {
	text := fmt.Sprintf("n %d, modified %d", w.N, w.Modified)
	if w.Upserted {
		text += ", upserted"
	}
	if w.Retried {
		text += ", found on record as executed before"
	}
	if w.ConcernError != "" {
		text += ", not confirmed: " + w.ConcernError
	}
	return text
}

// fields are those of a message that say something in a few words, and, behind a word for it, those
// that are false. The collection is told anyway, and versions have its epoch.
func fields(m env.Message, isFalse string) (all []string) {
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for f, value := range v.Fields() {
		if !f.IsExported() || f.Name == "NS" || f.Name == "UUID" || f.Name == "Epoch" {
			continue
		}
		switch session, is := value.Interface().(command.Session); {
		case is:
			all = append(all, sessionFields(session)...)
		case value.Kind() == reflect.Bool && !value.Bool() && isFalse != "":
			all = append(all, isFalse+f.Name)
		default:
			if text := fieldText(f.Name, value); text != "" {
				all = append(all, text)
			}
		}
	}
	if set, is := m.(*command.PutSetting); is {
		all = append(all, settingText(set.Doc))
	}
	return all
}

// settingText is what a setting is set to. Documents of users are not told in messages.
func settingText(doc bson.Raw) string {
	if len(doc) == 0 {
		return "removed"
	}
	text, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return "Doc " + doc.String()
	}
	return "Doc " + strings.ReplaceAll(string(text), `,"`, `, "`)
}

func sessionFields(of command.Session) []string {
	if of.ID == "" {
		return nil
	}
	return []string{
		"session " + of.ID, fmt.Sprintf("transaction %d", of.Txn),
		fmt.Sprintf("statement %d", of.Stmt),
	}
}

func fieldText(name string, v reflect.Value) string {
	switch one := v.Interface().(type) {
	case command.Placement:
		return placementText(one)
	case catalog.Version:
		return name + " " + one.String()
	case command.Token:
		if one == command.Mark(one.TS) {
			return fmt.Sprintf("%s %s", name, one.TS)
		}
		return fmt.Sprintf("%s %s of %s/%d", name, one.TS, one.Shard, one.N)
	case bson.Raw, command.WriteConcern:
		return ""
	case bool:
		if !one {
			return ""
		}
		return name
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		text := fmt.Sprintf("%s (%d)", name, v.Len())
		if stmts, are := v.Interface().([]oplog.Stmt); are && len(stmts) > 0 {
			text += " " + statementsText(stmts)
		}
		return text
	case reflect.Pointer:
		if set := v.Elem(); set.IsValid() && set.Kind() != reflect.Struct {
			return fmt.Sprintf("%s %v", name, set.Interface())
		}
		return ""
	case reflect.Struct, reflect.Interface:
		return ""
	}
	if v.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s %v", name, v.Interface())
}

// statementsTold is how many statements of session history are named.
const statementsTold = 4

// statementsText names the first statements of session history.
func statementsText(stmts []oplog.Stmt) string {
	var all []string
	for _, st := range stmts[:min(statementsTold, len(stmts))] {
		all = append(all, fmt.Sprintf("statement %d of transaction %d of %s", st.ID, st.Txn,
			st.Session))
	}
	if len(stmts) > statementsTold {
		all = append(all, "…")
	}
	return strings.Join(all, " and ")
}

// placementText is the version that a request comes with.
func placementText(p command.Placement) string {
	switch {
	case p.Database:
		return "version of the database " + p.Shard.String()
	case p.Versioned:
		return "version " + p.Shard.String()
	}
	return "without a version"
}

// byID names documents, whatever their shard key.
var byID = key.Pattern{Field: "_id"}

// carried are the documents that the answer to a clone or a catch-up brings.
func carried(m env.Message) (all []trace.Carried) {
	var docs []bson.Raw
	switch reply := m.(type) {
	case *command.Mods:
		for _, id := range reply.Deletes {
			all = append(all, trace.Carried{DocID: id})
		}
		docs = reply.Reloads
	case *command.Page:
		docs = reply.Docs
	}
	for _, doc := range docs {
		if id, err := byID.Of(doc); err == nil {
			hash := fnv.New64a()
			hash.Write(doc)
			all = append(all, trace.Carried{DocID: string(id), Hash: max(hash.Sum64(), 1)})
		}
	}
	return all
}

// stepOf is what a participant of an operation is asked to do.
func stepOf(req *command.ShardsvrParticipate) oracle.OperationStep {
	s := oracle.OperationStep{
		NS: req.Collection.NS, To: req.To, Operation: req.Operation, Change: oracle.DropStep,
		Step: oracle.Step(req.Step),
	}
	switch {
	case req.To != "":
		s.Change = oracle.RenameStep
	case req.Creates:
		s.Change = oracle.CreateStep
	case req.Index != "":
		s.Change = oracle.IndexStep
	}
	switch req.Step {
	case command.ParticipantCreateIndex, command.ParticipantDropIndex:
		s.Step = oracle.IndexStep
	}
	return s
}
