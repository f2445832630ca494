package mongodb

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/shardproof/shardproof/harness/attack"
)

// duplicateKey is the code of an insert that found a document.
const duplicateKey = 11000

// refusals are the codes by which a server or a router says that the statement is not executed and
// never will be: it is wrong in itself, or nobody may send it. What a router has tried before it
// answers so does not matter. A primary that is none any more (10107, 189, 11602) is not among
// them: a router may answer so when an earlier attempt of its own has been executed.
var refusals = map[int]bool{
	2:  true, // BadValue
	9:  true, // FailedToParse
	13: true, // Unauthorized
	14: true, // TypeMismatch
	18: true, // AuthenticationFailed
	59: true, // CommandNotFound
	61: true, // ShardKeyNotFound
	66: true, // ImmutableField
	72: true, // InvalidOptions
	73: true, // InvalidNamespace
}

// classifyServer says what an error means that a server has answered with.
func classifyServer(err mongo.ServerError) (a attack.Answer, again bool) {
	for _, code := range err.ErrorCodes() {
		switch {
		case code == duplicateKey:
			return attack.Present, false
		case refusals[code]:
			return attack.Refused, false
		}
	}
	return attack.Open, true
}

// isSelection reports whether no server was found to send to.
func isSelection(err error) bool {
	_, is := errors.AsType[topology.ServerSelectionError](err)
	return is
}
