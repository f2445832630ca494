package mongodb

import (
	"context"
	"errors"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/shardproof/shardproof/harness/attack"
)

// An error is a certain refusal only when its code says so of every server; whatever else is
// answered leaves the outcome open, and what is not answered is lost.
func TestClassify(t *testing.T) {
	code := func(c int32) error { return mongo.CommandError{Code: c, Message: "no"} }
	for _, one := range []struct {
		name  string
		err   error
		want  attack.Answer
		again bool
	}{
		{"no error", nil, attack.Done, false},
		{"BadValue", code(2), attack.Refused, false},
		{"ImmutableField", code(66), attack.Refused, false},
		{"DuplicateKey of a command", code(11000), attack.Present, false},
		{"DuplicateKey of a write", mongo.WriteException{WriteErrors: []mongo.WriteError{
			{Code: 11000},
		}}, attack.Present, false},
		{"NotWritablePrimary", code(10107), attack.Open, true},
		{"PrimarySteppedDown", code(189), attack.Open, true},
		{"Interrupted", code(11602), attack.Open, true},
		{"StaleConfig", code(13388), attack.Open, true},
		{"HostUnreachable behind the router", code(6), attack.Open, true},
		{"an unknown code", code(4711), attack.Open, true},
		{"a write concern that failed", mongo.WriteException{
			WriteConcernError: &mongo.WriteConcernError{Code: 64},
		}, attack.Open, true},
		{"a connection that broke", mongo.CommandError{Labels: []string{"NetworkError"},
			Wrapped: io.EOF}, attack.Lost, true},
		{"no answer in time", context.DeadlineExceeded, attack.Lost, true},
		{"an error that nobody knows", errors.New("what"), attack.Lost, true},
		{"no router was found", topology.ServerSelectionError{Wrapped: context.DeadlineExceeded},
			attack.Unsent, true},
	} {
		if got, again := classify(one.err); got != one.want || again != one.again {
			t.Errorf("%s: %d, again %t; want %d, %t", one.name, got, again, one.want, one.again)
		}
	}
}
