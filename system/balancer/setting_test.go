package balancer

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
)

// TestPutSetting: what the config server takes of config.settings, and what it makes of it.
func TestPutSetting(t *testing.T) {
	for _, c := range []struct {
		id   string
		doc  bson.D
		want string // empty: it is taken
	}{
		{"balancer", bson.D{}, ""},
		{"balancer", bson.D{{Key: "mode", Value: "full"}}, ""},
		{
			"balancer", bson.D{{Key: "mode", Value: "fast"}},
			`the balancer has no mode "fast", only full, autoSplitOnly and off`,
		},
		{
			"balancer", bson.D{{Key: "closed", Value: true}},
			`the setting balancer has no field "closed", only ["mode" "stopped" "activeWindow" "_secondaryThrottle" "_waitForDelete" "attemptToBalanceJumboChunks"]`,
		},
		{"balancer", window("7:00", "7:00"), "the active window begins and ends at 7:00"},
		{
			"balancer", bson.D{{Key: "_secondaryThrottle", Value: "fast"}},
			`_secondaryThrottle is true, false or a write concern, not "fast"`,
		},
		{
			"chunksize", bson.D{{Key: "value", Value: 0}},
			`the size of a chunk is a number of bytes above zero, not {"value": {"$numberInt":"0"}}`,
		},
		{"chunksize", bson.D{{Key: "value", Value: int64(400)}}, ""},
		{"chunksize", bson.D{{Key: "value", Value: nil}}, ""},
		{"chunksize", bson.D{}, ""},
		{
			"autosplit", bson.D{{Key: "enabled", Value: "yes"}},
			`autosplit is enabled or not: {"enabled": "yes"}`,
		},
		{"automerge", bson.D{{Key: "enabled", Value: false}}, ""},
		{"windows", bson.D{}, `nothing of config.settings is called "windows"`},
	} {
		doc := encoded(t, c.doc)
		err := checkFields(&command.PutSetting{ID: c.id, Doc: doc})
		if err == nil && c.id == configsvr.BalancerSetting {
			_, err = mergeSettings(settingsDoc{Mode: command.BalancerOff}, doc)
		}
		if got := said(err); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.id, c.doc, got, c.want)
		}
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()[len("BadValue: "):]
}

// TestModeIsKept: only who names the mode changes it, and the door that a stop has closed opens
// with the mode full alone.
func TestModeIsKept(t *testing.T) {
	stopped := settingsDoc{Mode: command.BalancerOff, Closed: true, WaitForDelete: true}
	for _, c := range []struct {
		doc    bson.D
		mode   command.BalancerMode
		closed bool
	}{
		{bson.D{}, command.BalancerOff, true},
		{window("23:00", "7:00"), command.BalancerOff, true},
		{bson.D{{Key: "mode", Value: "autoSplitOnly"}}, command.BalancerAutoSplitOnly, true},
		{bson.D{{Key: "mode", Value: "full"}}, command.BalancerFull, false},
		{bson.D{{Key: "stopped", Value: false}}, command.BalancerFull, false},
		{bson.D{{Key: "stopped", Value: true}}, command.BalancerOff, true},
	} {
		got, err := mergeSettings(stopped, encoded(t, c.doc))
		if err != nil || got.Mode != c.mode || got.Closed != c.closed || !got.WaitForDelete {
			t.Errorf("%v makes of a stopped balancer %+v (%v)", c.doc, got, err)
		}
	}
}

func TestOptions(t *testing.T) {
	doc, err := mergeSettings(settingsDoc{Mode: command.BalancerFull},
		encoded(t, append(window("23:00", "7:00"),
			bson.E{Key: "_secondaryThrottle", Value: bson.D{{Key: "w", Value: "majority"}}},
			bson.E{Key: "attemptToBalanceJumboChunks", Value: true})))
	if err != nil {
		t.Fatal(err)
	}
	got, err := doc.options()
	want := roundOptions{
		mode:       command.BalancerFull,
		window:     policy.Window{Start: 23 * time.Hour, Stop: 7 * time.Hour},
		throttle:   command.Majority,
		forceJumbo: true,
	}
	if err != nil || got != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
}

func window(start, stop string) bson.D {
	return bson.D{{
		Key:   "activeWindow",
		Value: bson.D{{Key: "start", Value: start}, {Key: "stop", Value: stop}},
	}}
}

func encoded(t *testing.T, doc bson.D) bson.Raw {
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
