package moveprimary_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads whole clusters through section 15 of the protocol.
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
