// Package request reads the commands of clients: who asks, for what, with which arguments and in
// which session.
//
// Promise: an argument of the wrong type is an error that names the argument and the value; one
// that is missing has the documented default.
//
// Refusal: it knows neither which commands exist nor what they mean.
package request

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/reply"
)

// Handler answers one command, in a task of the router's node.
type Handler func(t env.Task, r *Request) (bson.D, error)

// Request is one command of a client.
type Request struct {
	// Name is the command, DB the database that it is sent to.
	Name, DB string
	Body     bson.Raw
	Session  Session
	// AppName is what the client called itself in its first hello, RemoteAddr its address.
	AppName, RemoteAddr string
	// User is the authenticated user, empty without authentication.
	User      string
	sequences []frame.Sequence
}

// Session is the logical session of a request, the zero Session for none. A request with Numbered
// set is a statement that the client may retry.
type Session struct {
	ID       string
	Txn      int64
	Numbered bool
	// InTransaction: the request is part of a multi-statement transaction.
	InTransaction bool
}

// Parse finds the command in a message.
func Parse(m *frame.Message) (*Request, error) {
	first, err := m.Body.IndexErr(0)
	if err != nil {
		return nil, errcode.New(reply.FailedToParse, "a command has no name")
	}
	r := &Request{Name: first.Key(), Body: m.Body, sequences: m.Sequences}
	if wrapped, ok := first.Value().DocumentOK(); ok &&
		(r.Name == "$query" || r.Name == "query") && m.Query != "" {
		return Parse(&frame.Message{Body: wrapped, Query: m.Query})
	}
	if r.DB, err = r.Text("$db", ""); err != nil {
		return nil, err
	}
	if m.Query != "" {
		r.DB, _, _ = strings.Cut(m.Query, ".")
	}
	if r.DB == "" {
		return nil, errcode.New(reply.FailedToParse, "command %s names no database in $db", r.Name)
	}
	return r, r.readSession()
}

func (r *Request) readSession() error {
	lsid, err := r.Document("lsid")
	if err != nil || lsid == nil {
		return err
	}
	_, id, ok := lsid.Lookup("id").BinaryOK()
	if !ok {
		return errcode.New(reply.TypeMismatch, "the lsid %v has no binary id", lsid)
	}
	r.Session.ID = command.DriverSession + hex.EncodeToString(id)
	if r.Session.Txn, err = r.Int("txnNumber", 0); err != nil {
		return err
	}
	r.Session.Numbered = r.Has("txnNumber")
	if v, err := r.Body.LookupErr("autocommit"); err == nil {
		commits, ok := v.BooleanOK()
		r.Session.InTransaction = ok && !commits
	}
	return nil
}

// Has reports whether the argument is there.
func (r *Request) Has(name string) bool { return Has(r.Body, name) }

// Has reports whether a document has the field.
func Has(doc bson.Raw, name string) bool {
	_, err := doc.LookupErr(name)
	return err == nil
}

// Value is an argument as it is, the zero RawValue for a missing one.
func (r *Request) Value(name string) bson.RawValue {
	v, _ := r.Body.LookupErr(name)
	return v
}

// Text is an argument that must be a string.
func (r *Request) Text(name, missing string) (string, error) {
	return Text(r.Body, name, missing)
}

// Text is a field of a document that must be a string.
func Text(doc bson.Raw, name, missing string) (string, error) {
	v, err := doc.LookupErr(name)
	if err != nil {
		return missing, nil
	}
	text, ok := v.StringValueOK()
	if !ok {
		return "", wrongType(name, "a string", v)
	}
	return text, nil
}

// Int is an argument that must be an integer, of any numeric type.
func (r *Request) Int(name string, missing int64) (int64, error) {
	return Int(r.Body, name, missing)
}

// Int is a field of a document that must be a whole number.
func Int(doc bson.Raw, name string, missing int64) (int64, error) {
	v, err := doc.LookupErr(name)
	if err != nil || v.Type == bson.TypeNull {
		return missing, nil
	}
	if f, ok := v.DoubleOK(); ok && f == float64(int64(f)) {
		return int64(f), nil
	}
	n, ok := v.AsInt64OK()
	if !ok || v.Type == bson.TypeDouble {
		return 0, wrongType(name, "a whole number", v)
	}
	return n, nil
}

// Bool is an argument that is true or false; numbers are true unless they are 0.
func (r *Request) Bool(name string, missing bool) bool { return Bool(r.Body, name, missing) }

// Bool is a field of a document, as an argument.
func Bool(doc bson.Raw, name string, missing bool) bool {
	v, err := doc.LookupErr(name)
	if err != nil || v.Type == bson.TypeNull {
		return missing
	}
	if b, ok := v.BooleanOK(); ok {
		return b
	}
	if f, ok := v.DoubleOK(); ok {
		return f != 0
	}
	n, ok := v.AsInt64OK()
	return !ok || n != 0
}

// Document is an argument that is a document, nil for a missing one.
func (r *Request) Document(name string) (bson.Raw, error) { return Document(r.Body, name) }

// Document is a field of a document that must be a document itself, nil for a missing one.
func Document(doc bson.Raw, name string) (bson.Raw, error) {
	v, err := doc.LookupErr(name)
	if err != nil || v.Type == bson.TypeNull {
		return nil, nil
	}
	inner, ok := v.DocumentOK()
	if !ok {
		return nil, wrongType(name, "a document", v)
	}
	return inner, nil
}

// Documents are the elements of an argument that is an array of documents, or of the sequence of
// that name.
func (r *Request) Documents(name string) ([]bson.Raw, error) {
	of := func(s frame.Sequence) bool { return s.Name == name }
	if i := slices.IndexFunc(r.sequences, of); i >= 0 {
		return r.sequences[i].Docs, nil
	}
	return Documents(r.Body, name)
}

// Documents are the elements of a field that must be an array of documents, none of a missing one.
func Documents(doc bson.Raw, name string) ([]bson.Raw, error) {
	v, err := doc.LookupErr(name)
	if err != nil {
		return nil, nil
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil, wrongType(name, "an array", v)
	}
	values, err := array.Values()
	if err != nil {
		return nil, err
	}
	docs := make([]bson.Raw, 0, len(values))
	for _, v := range values {
		one, ok := v.DocumentOK()
		if !ok {
			return nil, wrongType(name, "an array of documents", v)
		}
		docs = append(docs, one)
	}
	return docs, nil
}

// Collection is the namespace that the command is about: its first argument is the collection.
func (r *Request) Collection() (ns string, err error) {
	name, ok := r.Value(r.Name).StringValueOK()
	if !ok || !IsName(name) {
		return "", errcode.New(reply.InvalidNamespace, "%s takes the name of a collection, not %v",
			r.Name, r.Value(r.Name))
	}
	return r.DB + "." + name, nil
}

// IsName reports whether a collection can be called so.
func IsName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsRune(name, 0)
}

// Namespace is the argument of that name, "database.collection".
func (r *Request) Namespace(name string) (string, error) {
	ns, err := r.Text(name, "")
	if err != nil {
		return "", err
	}
	if db, coll, _ := strings.Cut(ns, "."); db == "" || !IsName(coll) {
		return "", errcode.New(reply.InvalidNamespace,
			"%s takes a namespace, \"database.collection\", not %q", r.Name, ns)
	}
	return ns, nil
}

func wrongType(name, want string, got bson.RawValue) error {
	return errcode.New(reply.TypeMismatch, "%s must be %s, not %v", name, want, got)
}

// Fits refuses a document that is larger than the server announces.
func Fits(doc bson.Raw) error {
	if len(doc) <= frame.MaxDocument {
		return nil
	}
	return errcode.New(errcode.BSONObjectTooLarge, "a document has at most %d bytes, not %d",
		frame.MaxDocument, len(doc))
}

// BinaryOrder refuses a collation that is not the simple one: texts are compared by their bytes.
func BinaryOrder(doc bson.Raw) error {
	collation, err := Document(doc, "collation")
	if err != nil || len(collation) == 0 {
		return err
	}
	if locale, _ := Text(collation, "locale", ""); locale == "simple" {
		return nil
	}
	return errcode.New(reply.CommandNotSupported,
		"the collation %v is not supported: texts are compared by their bytes", collation)
}

// Decimal is a whole number as operators write it.
func Decimal(n int64) string { return strconv.FormatInt(n, 10) }
