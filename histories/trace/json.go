package trace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// encodedKey is an encoded key. Its bytes are not text, so files have it in hexadecimal.
type encodedKey string

// MarshalText is the key's bytes in hexadecimal.
func (k encodedKey) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, []byte(k)), nil
}

// UnmarshalText is the inverse of MarshalText.
func (k *encodedKey) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	*k = encodedKey(raw)
	return err
}

// commonLine is what all kinds have in a file; what is particular to a kind follows it, under the
// names of the kind's layout.
type commonLine struct {
	Step   uint64      `json:"step"`
	At     int64       `json:"at"`
	Node   string      `json:"node,omitempty"`
	Kind   string      `json:"kind"`
	Actor  Actor       `json:"actor,omitempty"`
	Shard  string      `json:"shard,omitempty"`
	Peer   string      `json:"peer,omitempty"`
	Term   uint64      `json:"term,omitempty"`
	Index  uint64      `json:"index,omitempty"`
	NS     string      `json:"ns,omitempty"`
	Key    encodedKey  `json:"key,omitempty"`
	DocID  encodedKey  `json:"docId,omitempty"`
	Hash   uint64      `json:"hash,omitempty"`
	Min    encodedKey  `json:"min,omitempty"`
	Max    encodedKey  `json:"max,omitempty"`
	Wall   int64       `json:"wall,omitempty"`
	Chunks []chunkLine `json:"chunks,omitempty"`
}

type chunkLine struct {
	Min     encodedKey  `json:"min"`
	Max     encodedKey  `json:"max"`
	Shard   string      `json:"shard"`
	Major   uint32      `json:"major"`
	Minor   uint32      `json:"minor"`
	Epoch   string      `json:"epoch,omitempty"`
	History []Placement `json:"history,omitempty"`
	Since   uint64      `json:"since,omitempty"`
	Jumbo   bool        `json:"jumbo,omitempty"`
}

// MarshalJSON is the event as a line of a file: the common fields, and then those of its kind.
func (e *Event) MarshalJSON() ([]byte, error) {
	if e.Kind == 0 || e.Kind >= kinds {
		return nil, fmt.Errorf("an event of step %d has kind %d, which is none", e.Step, e.Kind)
	}
	l := commonLine{
		Step: e.Step, At: e.At, Node: e.Node, Kind: e.Kind.String(), Actor: e.Actor, Shard: e.Shard,
		Peer: e.Peer, Term: e.Term, Index: e.Index, NS: e.NS, Key: encodedKey(e.Key),
		DocID: encodedKey(e.DocID), Hash: e.Hash, Min: encodedKey(e.Min), Max: encodedKey(e.Max),
		Wall: e.wall,
	}
	for _, c := range e.Chunks {
		l.Chunks = append(l.Chunks, chunkLine{
			encodedKey(c.Min), encodedKey(c.Max), c.Shard, c.Major, c.Minor, c.Epoch, c.History,
			c.Since, c.Jumbo,
		})
	}
	text, err := json.Marshal(&l)
	if err != nil {
		return nil, err
	}
	return e.appendDetails(text)
}

// appendDetails adds what is particular to the kind before the closing brace.
func (e *Event) appendDetails(text []byte) ([]byte, error) {
	text = text[:len(text)-1]
	of := &layouts[e.Kind]
	for _, f := range []struct {
		name  string
		value any
		zero  bool
	}{
		{of.subject, e.subject, e.subject == ""}, {of.detail, e.detail, e.detail == ""},
		{of.number, e.number, e.number == 0}, {of.amount, e.amount, e.amount == 0},
	} {
		if f.zero {
			continue
		}
		if f.name == "" {
			return nil, fmt.Errorf("a %s of step %d has %v, which its kind does not",
				e.Kind, e.Step, f.value)
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, ",%q:%s", f.name, value)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON is the inverse of MarshalJSON. It refuses an unknown kind, a state that the kind
// has not, and a field that neither all kinds nor this one have.
func (e *Event) UnmarshalJSON(text []byte) error {
	var l commonLine
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	kind, known := ParseKind(l.Kind)
	if !known {
		return fmt.Errorf("unknown kind of event %q", l.Kind)
	}
	*e = Event{
		Step:  l.Step,
		At:    l.At,
		Node:  l.Node,
		Kind:  kind,
		Actor: l.Actor,
		Shard: l.Shard,
		Peer:  l.Peer,
		Term:  l.Term,
		Index: l.Index,
		NS:    l.NS,
		Key:   string(l.Key),
		DocID: string(l.DocID),
		Hash:  l.Hash,
		Min:   string(l.Min),
		Max:   string(l.Max),
		wall:  l.Wall,
	}
	for _, c := range l.Chunks {
		e.Chunks = append(e.Chunks, Chunk{
			Min: string(c.Min), Max: string(c.Max), Shard: c.Shard, Major: c.Major, Minor: c.Minor,
			Epoch: c.Epoch, History: c.History, Since: c.Since, Jumbo: c.Jumbo,
		})
	}
	return e.readDetails(text)
}

// readDetails reads what is particular to the kind.
func (e *Event) readDetails(text []byte) error {
	particular := map[string]any{}
	of := &layouts[e.Kind]
	for name, field := range map[string]any{
		of.subject: &e.subject, of.detail: &e.detail, of.number: &e.number, of.amount: &e.amount,
	} {
		if name != "" {
			particular[name] = field
		}
	}
	lines := json.NewDecoder(bytes.NewReader(text))
	if _, err := lines.Token(); err != nil { // the opening brace
		return err
	}
	for lines.More() {
		name, err := lines.Token()
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		field, own := particular[name.(string)]
		switch {
		case own:
			err = lines.Decode(field)
		case commonFields[name.(string)]:
			err = lines.Decode(&skipped)
		default:
			err = fmt.Errorf("an event of kind %s has no %q", e.Kind, name)
		}
		if err != nil {
			return err
		}
	}
	return e.readState()
}

// commonFields are the names of a commonLine.
var commonFields = map[string]bool{
	"step":   true,
	"at":     true,
	"node":   true,
	"kind":   true,
	"actor":  true,
	"shard":  true,
	"peer":   true,
	"term":   true,
	"index":  true,
	"ns":     true,
	"key":    true,
	"docId":  true,
	"hash":   true,
	"min":    true,
	"max":    true,
	"wall":   true,
	"chunks": true,
}

func (e *Event) readState() error {
	parse := layouts[e.Kind].parse
	if parse == nil || e.detail == "" {
		return nil
	}
	state, known := parse(e.detail)
	if !known {
		return fmt.Errorf("an event of kind %s has no %s %q",
			e.Kind, layouts[e.Kind].detail, e.detail)
	}
	e.state = state
	return nil
}
