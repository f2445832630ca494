// Package handshake answers what clients and shells ask about the server itself: its identity, the
// versions that it speaks, and its state.
//
// Promise: to drivers the server is a router of a sharded cluster of MongoDB 8.0.
//
// Refusal: it says nothing about data.
package handshake

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// Version is that of the server that drivers find.
const Version = "8.0.0"

// maxWireVersion is that of 8.0.
const maxWireVersion = 25

// Service answers for one router.
type Service struct {
	d *deployment.Deployment
	// authenticates: clients must authenticate.
	authenticates bool
}

// New is the service over a deployment.
func New(d *deployment.Deployment, authenticates bool) *Service {
	return &Service{d, authenticates}
}

// Commands are the commands that the service answers, by name.
func (s *Service) Commands() map[string]request.Handler {
	nothing := func(env.Task, *request.Request) (bson.D, error) { return reply.OK(), nil }
	return map[string]request.Handler{
		"hello":            s.hello,
		"isMaster":         s.hello,
		"ismaster":         s.hello,
		"ping":             nothing,
		"endSessions":      nothing,
		"refreshSessions":  nothing,
		"killSessions":     nothing,
		"killAllSessions":  nothing,
		"startSession":     s.startSession,
		"logout":           nothing,
		"buildInfo":        buildInfo,
		"buildinfo":        buildInfo,
		"hostInfo":         s.hostInfo,
		"serverStatus":     s.serverStatus,
		"getLog":           getLog,
		"connectionStatus": connectionStatus,
		"whatsmyuri":       whatsMyURI,
		"getCmdLineOpts":   getCmdLineOpts,
		"getParameter":     s.getParameter,
		"setParameter":     s.setParameter,
		"listCommands":     nothing,
	}
}

func (s *Service) hello(_ env.Task, r *request.Request) (bson.D, error) {
	primary := "isWritablePrimary"
	if r.Name != "hello" {
		primary = "ismaster"
	}
	doc := bson.D{
		{Key: primary, Value: true},
		{Key: "helloOk", Value: true},
		{Key: "msg", Value: "isdbgrid"},
		{Key: "maxBsonObjectSize", Value: int32(frame.MaxDocument)},
		{Key: "maxMessageSizeBytes", Value: int32(frame.MaxMessage)},
		{Key: "maxWriteBatchSize", Value: int32(100_000)},
		{Key: "localTime", Value: s.now()},
		{Key: "logicalSessionTimeoutMinutes", Value: int32(30)},
		{Key: "connectionId", Value: int32(1)},
		{Key: "minWireVersion", Value: int32(0)},
		{Key: "maxWireVersion", Value: int32(maxWireVersion)},
	}
	if s.authenticates && r.Has("saslSupportedMechs") {
		doc = append(doc, bson.E{Key: "saslSupportedMechs", Value: bson.A{"SCRAM-SHA-256"}})
	}
	return append(doc, reply.OK()...), nil
}

func (s *Service) now() bson.DateTime {
	return bson.DateTime(time.Duration(s.d.Endpoint.Node().Now()) / time.Millisecond)
}

func (s *Service) startSession(env.Task, *request.Request) (bson.D, error) {
	return nil, errcode.New(reply.CommandNotSupported, "sessions are begun by drivers")
}

func buildInfo(env.Task, *request.Request) (bson.D, error) {
	return reply.Result(
		bson.E{Key: "version", Value: Version},
		bson.E{Key: "gitVersion", Value: "shardproof"},
		bson.E{Key: "versionArray", Value: bson.A{int32(8), int32(0), int32(0), int32(0)}},
		bson.E{Key: "modules", Value: bson.A{}},
		bson.E{Key: "storageEngines", Value: bson.A{}},
		bson.E{Key: "bits", Value: int32(64)},
		bson.E{Key: "debug", Value: false},
		bson.E{Key: "maxBsonObjectSize", Value: int32(frame.MaxDocument)},
	), nil
}

func (s *Service) hostInfo(env.Task, *request.Request) (bson.D, error) {
	return reply.Result(
		bson.E{Key: "system", Value: bson.D{
			{Key: "currentTime", Value: s.now()},
			{Key: "hostname", Value: string(s.d.Endpoint.Node().ID())},
		}},
		bson.E{Key: "os", Value: bson.D{}},
		bson.E{Key: "extra", Value: bson.D{}},
	), nil
}

func (s *Service) serverStatus(env.Task, *request.Request) (bson.D, error) {
	node := s.d.Endpoint.Node()
	up := time.Duration(node.Mono())
	return reply.Result(
		bson.E{Key: "host", Value: string(node.ID())},
		bson.E{Key: "version", Value: Version},
		bson.E{Key: "process", Value: "mongos"},
		bson.E{Key: "uptime", Value: int64(up / time.Second)},
		bson.E{Key: "uptimeMillis", Value: int64(up / time.Millisecond)},
		bson.E{Key: "localTime", Value: s.now()},
		bson.E{Key: "connections", Value: bson.D{}},
	), nil
}

func getLog(_ env.Task, r *request.Request) (bson.D, error) {
	if what, _ := r.Text("getLog", ""); what == "*" {
		return reply.Result(
			bson.E{Key: "names", Value: bson.A{"global", "startupWarnings"}}), nil
	}
	return reply.Result(
		bson.E{Key: "totalLinesWritten", Value: int32(0)},
		bson.E{Key: "log", Value: bson.A{}},
	), nil
}

func connectionStatus(_ env.Task, r *request.Request) (bson.D, error) {
	users := bson.A{}
	if r.User != "" {
		users = append(users, bson.D{{Key: "user", Value: r.User}, {Key: "db", Value: "admin"}})
	}
	return reply.Result(bson.E{Key: "authInfo", Value: bson.D{
		{Key: "authenticatedUsers", Value: users},
		{Key: "authenticatedUserRoles", Value: bson.A{}},
		{Key: "authenticatedUserPrivileges", Value: bson.A{}},
	}}), nil
}

func whatsMyURI(_ env.Task, r *request.Request) (bson.D, error) {
	return reply.Result(bson.E{Key: "you", Value: r.RemoteAddr}), nil
}

func getCmdLineOpts(env.Task, *request.Request) (bson.D, error) {
	return reply.Result(
		bson.E{Key: "argv", Value: bson.A{"shardproof"}},
		bson.E{Key: "parsed", Value: bson.D{}},
	), nil
}

// fixedParameters are parameters that clients ask for and the store does not have.
var fixedParameters = bson.D{
	{Key: "featureCompatibilityVersion", Value: bson.D{{Key: "version", Value: "8.0"}}},
	{Key: "enableTestCommands", Value: true},
	{Key: "requireApiVersion", Value: false},
	{Key: "authenticationMechanisms", Value: bson.A{"SCRAM-SHA-256"}},
}

func (s *Service) getParameter(_ env.Task, r *request.Request) (bson.D, error) {
	star, _ := r.Value(r.Name).StringValueOK()
	var found bson.D
	for _, p := range fixedParameters {
		if star == "*" || r.Has(p.Key) {
			found = append(found, p)
		}
	}
	for _, name := range settings.Names() {
		if value, ok := s.d.Settings.Get(name); ok && (star == "*" || r.Has(name)) {
			found = append(found, bson.E{Key: name, Value: value})
		}
	}
	if len(found) == 0 {
		return nil, errcode.New(reply.InvalidOptions, "no option found to get")
	}
	return append(found, reply.OK()...), nil
}

// setParameter changes settings of this router.
func (s *Service) setParameter(_ env.Task, r *request.Request) (bson.D, error) {
	elements, err := r.Body.Elements()
	if err != nil {
		return nil, err
	}
	changed := false
	for _, e := range elements[1:] {
		_, known := s.d.Settings.Get(e.Key())
		if !known {
			continue
		}
		text, ok := e.Value().StringValueOK()
		if !ok {
			text = e.Value().String()
			if n, whole := e.Value().AsInt64OK(); whole {
				text = request.Decimal(n)
			}
		}
		if err := s.d.Settings.Set(e.Key(), text); err != nil {
			return nil, errcode.New(errcode.BadValue, "%v", err)
		}
		changed = true
	}
	if !changed {
		return nil, errcode.New(reply.InvalidOptions, "no option found to set")
	}
	return reply.OK(), nil
}
