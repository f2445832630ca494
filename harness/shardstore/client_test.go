package shardstore

import (
	"testing"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/errcode"
)

// An insert that was refused as a duplicate says that there was a document, which checkers hold
// against the history; any other refusal says nothing.
func TestObserved(t *testing.T) {
	for name, c := range map[string]struct {
		is   client.Certainty
		code errcode.Code
		want client.Certainty
	}{
		"duplicate":                    {client.Failed, errcode.DuplicateKey, client.OK},
		"duplicate of an unknown fate": {client.Unknown, errcode.DuplicateKey, client.Unknown},
		"refused for another reason":   {client.Failed, errcode.BadValue, client.Failed},
	} {
		a := observed(client.Answer{Certainty: c.is, Err: errcode.New(c.code, "of the test")})
		if a.Certainty != c.want || !errcode.Is(a.Err, c.code) {
			t.Errorf("%s: %v %v, want %v", name, a.Certainty, a.Err, c.want)
		}
	}
	if a := observed(client.Answer{Certainty: client.OK}); a.Certainty != client.OK {
		t.Errorf("done: %v", a.Certainty)
	}
}
