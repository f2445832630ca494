package balancer

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/errcode"
)

// settingsDoc is the balancer's document of config.settings (protocol 2.1).
type settingsDoc struct {
	ID   string               `bson:"_id"`
	Mode command.BalancerMode `bson:"mode"`
	// Stopped is how older shells read and write the mode off.
	Stopped bool       `bson:"stopped"`
	Window  *windowDoc `bson:"activeWindow,omitempty"`
	// Throttle is a bool or a write concern.
	Throttle      bson.RawValue `bson:"_secondaryThrottle,omitempty"`
	WaitForDelete bool          `bson:"_waitForDelete,omitempty"`
	ForceJumbo    bool          `bson:"attemptToBalanceJumboChunks,omitempty"`
	// Closed is true from when a stop was answered: nothing that the balancer asked for commits.
	Closed bool `bson:"closed,omitempty"`
}

type windowDoc struct {
	Start string `bson:"start"`
	Stop  string `bson:"stop"`
}

// String is the window as oracles read it: 23:00-7:00, empty for none.
func (w *windowDoc) String() string {
	if w == nil {
		return ""
	}
	return w.Start + "-" + w.Stop
}

// roundOptions are the settings that a round uses.
type roundOptions struct {
	mode                      command.BalancerMode
	window                    policy.Window
	throttle                  command.WriteConcern
	waitForDelete, forceJumbo bool
	chunkBytes                int64
}

// options reads what was set. Nothing gets into config.settings that cannot be read.
func (b *Balancer) options() roundOptions {
	doc := b.document()
	o, err := doc.options()
	b.node.Assert(err == nil, "the settings of the balancer %+v cannot be read: %v", doc, err)
	o.chunkBytes = int64(b.settings.MaxChunkBytes)
	if bytes, ok := b.server.Setting(chunkSize).Lookup("value").AsInt64OK(); ok {
		o.chunkBytes = bytes
	}
	return o
}

// document is what was set; a balancer that nothing was set for is on.
func (b *Balancer) document() settingsDoc {
	doc := settingsDoc{ID: configsvr.BalancerSetting, Mode: command.BalancerFull}
	if raw := b.server.Setting(configsvr.BalancerSetting); raw != nil {
		err := bson.Unmarshal(raw, &doc)
		b.node.Assert(err == nil, "the settings of the balancer %v cannot be read: %v", raw, err)
	}
	return doc
}

func (d *settingsDoc) options() (o roundOptions, err error) {
	o.mode, o.waitForDelete, o.forceJumbo = d.Mode, d.WaitForDelete, d.ForceJumbo
	switch d.Mode {
	case command.BalancerFull, command.BalancerAutoSplitOnly, command.BalancerOff:
	default:
		return o, errcode.New(errcode.BadValue,
			"the balancer has no mode %q, only full, autoSplitOnly and off", d.Mode)
	}
	if d.Window != nil {
		if o.window, err = policy.ParseWindow(d.Window.Start, d.Window.Stop); err != nil {
			return o, err
		}
	}
	o.throttle, err = parseThrottle(d.Throttle)
	return o, err
}

// parseThrottle reads a bool, where true is one secondary, or a write concern (protocol 16).
func parseThrottle(v bson.RawValue) (command.WriteConcern, error) {
	if v.IsZero() || v.Type == bson.TypeNull {
		return command.WriteConcern{}, nil
	}
	if on, ok := v.BooleanOK(); ok {
		if on {
			return command.WriteConcern{W: 2}, nil
		}
		return command.WriteConcern{}, nil
	}
	doc, _ := v.DocumentOK()
	if w, ok := doc.Lookup("w").StringValueOK(); ok && w == "majority" {
		return command.Majority, nil
	}
	if w, ok := doc.Lookup("w").AsInt64OK(); ok && w >= 0 {
		return command.WriteConcern{W: int(w)}, nil
	}
	return command.WriteConcern{}, errcode.New(errcode.BadValue,
		"_secondaryThrottle is true, false or a write concern, not %v", v)
}
