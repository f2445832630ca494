package replset

import (
	"testing"

	"github.com/shardproof/shardproof/system/oplog"
)

// TestReading: what an entry says is found by its very bytes, not by equal ones, which may be those
// of another; nil remembers nothing, and not everything is kept.
func TestReading(t *testing.T) {
	data, twin, entry := []byte("entry"), []byte("entry"), &oplog.Entry{TS: 1}
	var none *Reading
	none.remember(data, entry)
	of := &Reading{}
	of.remember(data, entry)
	of.remember(nil, entry)
	for _, c := range []struct {
		of   *Reading
		data []byte
		want *oplog.Entry
	}{
		{none, data, nil}, {of, data, entry}, {of, twin, nil}, {of, nil, nil},
		{&Reading{}, data, nil},
	} {
		if got := c.of.find(c.data); got != c.want {
			t.Errorf("%q is found as %v, not %v", c.data, got, c.want)
		}
	}
	for range 10 * mostRead {
		if of.remember([]byte("other"), entry); len(of.of) > mostRead {
			t.Fatalf("%d entries are kept", len(of.of))
		}
	}
}
