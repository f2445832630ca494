package rangedel_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads whole clusters through section 10 of the protocol.
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
