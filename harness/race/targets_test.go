package race

import (
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
)

// store is the system that the tests of this package run scenarios on.
var store = target.Set{shardstore.Store{}}
