package document

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestMemo: each document is read once, also one whose content another has; what cannot be read is
// asked for again.
func TestMemo(t *testing.T) {
	reads, broken := 0, errors.New("broken")
	read := func(doc bson.Raw) (string, error) {
		reads++
		if len(doc) == 1 {
			return "", broken
		}
		return string(doc), nil
	}
	first, twin, bad := bson.Raw("abc"), bson.Raw("abc"), bson.Raw("x")
	var m Memo[bson.Raw, string]
	for i, step := range []struct {
		doc   bson.Raw
		want  string
		err   error
		reads int
	}{
		{first, "abc", nil, 1}, {first, "abc", nil, 1}, {twin, "abc", nil, 2},
		{bad, "", broken, 3}, {bad, "", broken, 4}, {nil, "", nil, 5}, {first, "abc", nil, 5},
	} {
		got, err := m.Read(step.doc, read)
		if got != step.want || err != step.err || reads != step.reads {
			t.Errorf("step %d: %q and %v after %d reads, not %q and %v after %d",
				i, got, err, reads, step.want, step.err, step.reads)
		}
	}
	var none *Memo[bson.Raw, string]
	none.Remember(first, "other")
	if got, err := none.Read(first, read); got != "abc" || err != nil {
		t.Errorf("nil remembers %q, %v", got, err)
	}
	m.Remember(nil, "other")
	m.Remember(twin, "remembered")
	if got, err := m.Read(twin, read); got != "remembered" || err != nil {
		t.Errorf("what was remembered is read as %q, %v", got, err)
	}
	for range 10 * mostKept {
		if _, err := m.Read(bson.Raw("some"), read); err != nil || len(m.of) > mostKept {
			t.Fatalf("%d documents are kept, %v", len(m.of), err)
		}
	}
}
