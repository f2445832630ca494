package jepsen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/jepsen"
)

// Lines that are no history are refused with their place.
func TestRefused(t *testing.T) {
	const start = "INFO  jepsen.util - 4	:invoke	:read	nil\n"
	for _, c := range []struct{ text, want string }{
		{"", "h: the file holds no operation; give a history as Jepsen writes it"},
		{start + "what?\n", `h:2: "what?" is not an operation; give a history`},
		{
			start + start,
			"h:2: process 4 starts an operation before its last one has ended; correct the line",
		},
		{
			start + "INFO  jepsen.util - 3	:ok	:read	nil\n",
			"h:2: process 3 ends an operation that it has not started; correct the line",
		},
		{start + "INFO  jepsen.util - 4	:ok	:cas	[1", "h:2: "},
	} {
		_, err := jepsen.Read("h", strings.NewReader(c.text))
		var refused *histories.FileError
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Both kinds are told from everything else by their first line.
func TestRecognise(t *testing.T) {
	for text, want := range map[string]bool{
		"INFO  jepsen.util - 4	:invoke	:read	nil\nrest":                              true,
		`{:process 0, :type :invoke, :f :append, :key "0", :value "x 0 0 y"}` + "\n": true,
		`{"schema":"shardproof.history/1"}`:                                          false,
		"":                                                                           false,
	} {
		if got := jepsen.Recognise([]byte(text)) != nil; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
