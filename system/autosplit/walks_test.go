package autosplit_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads whole clusters through section 13 of the protocol: splits, merges and open
// bounds.
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
