package migration

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// TestAnswersOfOthers: a shard tells of whatever migration it takes part in, and the donor believes
// only what is in every respect about its own. A recipient that has given up is not waited for.
func TestAnswersOfOthers(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	defaults := settings.Default80()
	d := &donorMigration{
		capture: &changeCapture{},
		record: Coordinator{
			Session: "session", NS: "test.docs", Donor: "shard-a", Recipient: "shard-b",
			Min: []byte(key.Int(0)), Max: []byte(key.Int(10)),
		},
	}
	w.AddNode("shard-a.0", func(run env.Task) {
		d.s = &Service{node: run.Node(), settings: &defaults}
		d.began = run.Node().Mono()
	})
	w.Run(func() bool { return d.s != nil }, env.Time(time.Minute))
	for _, c := range []struct {
		about string
		spoil func(*command.RecvStatus)
		want  errcode.Code
	}{
		{"its own", func(*command.RecvStatus) {}, ""},
		{"session", func(st *command.RecvStatus) { st.Session = "another" }, errcode.StaleSession},
		{"namespace", func(st *command.RecvStatus) { st.NS = "test.more" }, errcode.StaleSession},
		{"donor", func(st *command.RecvStatus) { st.From = "shard-c" }, errcode.StaleSession},
		{"min", func(st *command.RecvStatus) { st.Min = key.Int(1) }, errcode.StaleSession},
		{"max", func(st *command.RecvStatus) { st.Max = key.Int(9) }, errcode.StaleSession},
		{"end", func(st *command.RecvStatus) { st.Active = false }, errcode.OperationFailed},
		{"failure", func(st *command.RecvStatus) {
			st.State = recipientFailed.String()
		}, errcode.OperationFailed},
		{"abort", func(st *command.RecvStatus) {
			st.State = recipientAborted.String()
		}, errcode.OperationFailed},
	} {
		st := &command.RecvStatus{
			Active: true, Session: "session", NS: "test.docs", From: "shard-a",
			Min: key.Int(0), Max: key.Int(10), State: recipientSteady.String(),
		}
		c.spoil(st)
		if err := d.checkProgress(st); (err != nil || c.want != "") && !errcode.Is(err, c.want) {
			t.Errorf("%s: %v, want %q", c.about, err, c.want)
		}
	}
}
