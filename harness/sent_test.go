package harness_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// unsent are the commands, answers and fields that no generated scenario sends, with the reason: a
// bug in what they do is not found by seeds. The list is to become shorter.
var unsent = map[string]string{
	"command.AuditReply.RangeDeletions":     leftover,
	"command.AuditReply.Coordinators":       leftover,
	"command.AuditReply.Recipients":         leftover,
	"command.AuditReply.CriticalSections":   leftover,
	"command.AuditReply.ActiveMigrations":   leftover,
	"command.AuditReply.OutstandingTasks":   leftover,
	"command.BalancerStatusReply.InRound":   rare,
	"command.ShardsvrParticipate.Formerly":  rare,
	"command.UnshardedDescription.Formerly": rare,
	"command.CommitMergeAllChunks":          rare,
	"command.ShardsvrMergeAllChunks":        rare,
	"command.CreateIndex.Name":              ofDrivers,
	"command.CreateIndex.Spec":              ofDrivers,
	"command.CreateUnsharded.Exclusive":     ofDrivers,
	"command.DropIndex.Name":                ofDrivers,
	"command.FindAndModify.Fields":          ofDrivers,
	"command.FindAndModify.Sort":            ofDrivers,
	"command.FindAndModify.NewID":           ofDrivers,
	"command.FindAndModify.New":             ofDrivers,
	"command.DropCollection.Sharded":        rare,
	"command.FoundShard.Draining":           rare,
	"command.LimitShard":                    rare,
	"command.ListUnsharded":                 ofDrivers,
	"command.ListedCollection":              ofDrivers,
	"command.MoveRange.Balancer":            insideOnly,
	"command.MoveRange.ChunkBytes":          insideOnly,
	"command.RecallStatement":               ofDrivers,
	"command.RemoveShardReply.Databases":    rare,
	"command.RemoveShardReply.Jumbo":        rare,
	"command.RenameUnsharded.Indexes":       ofDrivers,
	"command.RenameUnsharded.Options":       ofDrivers,
	"command.RenameUnsharded.Unchanged":     ofDrivers,
	"command.ShardsvrParticipate.Target":    rare,
	"command.SplitVector.Limit":             insideOnly,
	"command.StaleInfo":                     rare,
	"command.StepDown":                      ofDrivers,
	"command.UnshardedDescription.Empty":    rare,
	"command.UnshardedList":                 ofDrivers,
	"command.Update.Sort":                   ofDrivers,
	"command.Update.NewID":                  ofDrivers,
}

// Why something is not sent.
const (
	ofDrivers  = "only drivers of real clusters send it"
	insideOnly = "only the server that gets the request sets it, for itself"
	leftover   = "it tells of what a run has left, which is a failure"
	rare       = "it is sent in about one of a hundred scenarios"
)

// listening is a target whose messages are looked at.
type listening struct {
	target.Target
	sent func(env.Message)
}

func (l listening) Describe() *target.Description {
	d := *l.Target.Describe()
	witness := d.Messages.Witness
	d.Messages.Witness = func(n env.Node, x *env.Exchange) {
		for _, m := range []env.Message{x.Request, x.Reply} {
			if e, enveloped := m.(*rpc.Envelope); enveloped && e != nil {
				l.sent(e.Body)
			}
		}
		witness(n, x)
	}
	return &d
}

// sentFields notes which fields of which types had a value.
type sentFields map[string]bool

func (s sentFields) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s.add(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			s.add(v.Index(i))
		}
	case reflect.Struct:
		name := v.Type().String()
		if !strings.HasPrefix(name, "command.") {
			return
		}
		s[name] = true
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				s[name+"."+v.Type().Field(i).Name] = true
				s.add(v.Field(i))
			}
		}
	}
}

// TestEverythingIsSent: generated scenarios send every command that there is, with every field.
func TestEverythingIsSent(t *testing.T) {
	seen := sentFields{}
	listen := listening{harness.Targets()[0], func(m env.Message) { seen.add(reflect.ValueOf(m)) }}
	for seed := range uint64(150) {
		of := runner.Options{Targets: target.Set{listen}}
		if _, err := runner.Run(generate.Mixed(seed+1), of); err != nil {
			t.Fatal(err)
		}
	}
	var never []string
	for _, name := range codec.Registered() {
		if !strings.HasPrefix(name, "command.") {
			continue
		}
		if !seen[name] {
			never = append(never, name)
			continue
		}
		m, _ := codec.New(name)
		of := reflect.TypeOf(m).Elem()
		for i := range of.NumField() {
			if field := name + "." + of.Field(i).Name; !seen[field] {
				never = append(never, field)
			}
		}
	}
	for _, name := range never {
		if unsent[name] == "" {
			t.Errorf("no scenario sends %s", name)
		}
	}
	for name, why := range unsent {
		if why != rare && !slices.Contains(never, name) {
			t.Errorf("%s is sent: take it off the list", name)
		}
	}
}
