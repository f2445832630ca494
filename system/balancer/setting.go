package balancer

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// The documents of config.settings besides the balancer's.
const (
	chunkSize = "chunksize"
	autoSplit = "autosplit"
	autoMerge = "automerge"
)

// knownFields are the fields that an operator may set of each document of config.settings.
var knownFields = map[string][]string{
	configsvr.BalancerSetting: {
		"mode", "stopped", "activeWindow", "_secondaryThrottle", "_waitForDelete",
		"attemptToBalanceJumboChunks",
	},
	chunkSize: {"value"},
	autoSplit: {"enabled"},
	autoMerge: {"enabled"},
}

// putSetting sets fields of a document of config.settings as an operator's $set does: the others
// stay as they are, and a field that is set to null is gone. Without fields the document is
// removed.
func (b *Balancer) putSetting(
	t env.Task, _ env.NodeID, req *command.PutSetting,
) (*command.Done, error) {
	if err := checkFields(req); err != nil {
		return nil, err
	}
	err := b.server.InTerm(t, "putSetting "+req.ID, func(own env.Task) error {
		if err := b.put(own, req); err != nil {
			return err
		}
		return b.server.Majority(own)
	})
	return &command.Done{}, err
}

func checkFields(req *command.PutSetting) error {
	fields, known := knownFields[req.ID]
	if !known {
		return errcode.New(errcode.BadValue, "nothing of config.settings is called %q", req.ID)
	}
	elements, err := req.Doc.Elements()
	if len(req.Doc) > 0 && err != nil {
		return errcode.New(errcode.BadValue, "the setting %s is no document: %v", req.ID, err)
	}
	for _, e := range elements {
		if !slices.Contains(fields, e.Key()) {
			return errcode.New(errcode.BadValue, "the setting %s has no field %q, only %q",
				req.ID, e.Key(), fields)
		}
	}
	return checkValue(req)
}

func checkValue(req *command.PutSetting) error {
	if len(req.Doc) == 0 || req.ID == configsvr.BalancerSetting {
		return nil
	}
	if cleared(req.Doc) {
		return nil
	}
	switch bytes, isNumber := req.Doc.Lookup("value").AsInt64OK(); {
	case req.ID == chunkSize && (!isNumber || bytes <= 0):
		return errcode.New(errcode.BadValue,
			"the size of a chunk is a number of bytes above zero, not %v", req.Doc)
	case req.ID != chunkSize && req.Doc.Lookup("enabled").Type != bson.TypeBoolean:
		return errcode.New(errcode.BadValue, "%s is enabled or not: %v", req.ID, req.Doc)
	}
	return nil
}

// cleared reports whether a document of one field has that removed, which leaves nothing of it.
func cleared(doc bson.Raw) bool {
	elements, err := doc.Elements()
	return err == nil && !slices.ContainsFunc(elements, func(e bson.RawElement) bool {
		return e.Value().Type != bson.TypeNull
	})
}

func (b *Balancer) put(t env.Task, req *command.PutSetting) error {
	switch {
	case len(req.Doc) == 0 || req.ID != configsvr.BalancerSetting && cleared(req.Doc):
		return b.server.Write(t, configsvr.RemoveSetting(req.ID))
	case req.ID == configsvr.BalancerSetting:
		doc, err := mergeSettings(b.document(), req.Doc)
		if err != nil {
			return err
		}
		return b.store(t, doc)
	}
	fields := bson.D{{Key: "_id", Value: req.ID}}
	elements, _ := req.Doc.Elements()
	for _, e := range elements {
		fields = append(fields, bson.E{Key: e.Key(), Value: e.Value()})
	}
	op, err := configsvr.PutSetting(req.ID, fields)
	if err != nil {
		return err
	}
	return b.server.Write(t, op)
}

// mergeSettings is the document after an operator has set some of its fields.
func mergeSettings(doc settingsDoc, fields bson.Raw) (settingsDoc, error) {
	if v := fields.Lookup("activeWindow"); !v.IsZero() {
		doc.Window = nil // a window is set as a whole
	}
	if stopped, ok := fields.Lookup("stopped").BooleanOK(); ok {
		doc.Mode = command.BalancerFull
		if stopped {
			doc.Mode = command.BalancerOff
		}
	}
	if err := bson.Unmarshal(fields, &doc); err != nil {
		return doc, errcode.New(errcode.BadValue,
			"the settings of the balancer cannot be read: %v", err)
	}
	if doc.Mode == "" {
		doc.Mode = command.BalancerFull
	}
	if doc.Throttle.Type == bson.TypeNull {
		doc.Throttle = bson.RawValue{}
	}
	_, err := doc.options()
	return doc.switched(doc.Mode), err
}

// switched is the document with another mode. What was asked for before a stop may commit again
// once the balancer is on.
func (d settingsDoc) switched(mode command.BalancerMode) settingsDoc {
	d.Mode, d.Stopped = mode, mode == command.BalancerOff
	d.Closed = d.Closed && mode != command.BalancerFull
	return d
}
