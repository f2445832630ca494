package histories

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
)

// encoded is an encoded key. Its bytes are no text, hence hexadecimal in files.
type encoded string

// MarshalText is the key's bytes in hexadecimal.
func (k encoded) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString([]byte(k))), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *encoded) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	*k = encoded(raw)
	return err
}

// line is an event as it stands in a file.
type line struct {
	Step   uint64      `json:"step"`
	At     int64       `json:"at"`
	Node   string      `json:"node,omitempty"`
	Kind   string      `json:"kind"`
	Actor  trace.Actor `json:"actor,omitempty"`
	Shard  string      `json:"shard,omitempty"`
	Peer   string      `json:"peer,omitempty"`
	Term   uint64      `json:"term,omitempty"`
	Index  uint64      `json:"index,omitempty"`
	Txn    int64       `json:"txn,omitempty"`
	Wall   int64       `json:"wall,omitempty"`
	NS     string      `json:"ns,omitempty"`
	Key    encoded     `json:"key,omitempty"`
	DocID  encoded     `json:"docId,omitempty"`
	Hash   uint64      `json:"hash,omitempty"`
	Min    encoded     `json:"min,omitempty"`
	Max    encoded     `json:"max,omitempty"`
	ID     string      `json:"id,omitempty"`
	Value  string      `json:"value,omitempty"`
	N      int         `json:"n,omitempty"`
	Chunks []chunkLine `json:"chunks,omitempty"`
}

type chunkLine struct {
	Min     encoded           `json:"min"`
	Max     encoded           `json:"max"`
	Shard   string            `json:"shard"`
	Major   uint32            `json:"major"`
	Minor   uint32            `json:"minor"`
	Epoch   string            `json:"epoch,omitempty"`
	History []trace.Placement `json:"history,omitempty"`
}

func eventLine(e *trace.Event) *line {
	l := &line{
		Step: e.Step, At: e.At, Node: e.Node, Kind: e.Kind.String(), Actor: e.Actor, Shard: e.Shard, Peer: e.Peer,
		Term: e.Term, Index: e.Index, Txn: e.Txn, Wall: e.Wall, NS: e.NS, Key: encoded(e.Key), DocID: encoded(e.DocID), Hash: e.Hash,
		Min: encoded(e.Min), Max: encoded(e.Max), ID: e.ID, Value: e.Value, N: e.N,
	}
	for _, c := range e.Chunks {
		l.Chunks = append(l.Chunks, chunkLine{encoded(c.Min), encoded(c.Max), c.Shard, c.Major, c.Minor, c.Epoch, c.History})
	}
	return l
}

func readEvent(text []byte, e *trace.Event) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	kind, known := trace.ParseKind(l.Kind)
	if !known {
		return fmt.Errorf("unknown kind of event %q", l.Kind)
	}
	*e = trace.Event{
		Step: l.Step, At: l.At, Node: l.Node, Kind: kind, Actor: l.Actor, Shard: l.Shard, Peer: l.Peer,
		Term: l.Term, Index: l.Index, Txn: l.Txn, Wall: l.Wall, NS: l.NS, Key: string(l.Key), DocID: string(l.DocID), Hash: l.Hash,
		Min: string(l.Min), Max: string(l.Max), ID: l.ID, Value: l.Value, N: l.N,
	}
	for _, c := range l.Chunks {
		e.Chunks = append(e.Chunks, trace.Chunk{
			Min: string(c.Min), Max: string(c.Max), Shard: c.Shard, Major: c.Major, Minor: c.Minor, Epoch: c.Epoch, History: c.History,
		})
	}
	return nil
}
