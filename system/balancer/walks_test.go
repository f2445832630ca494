package balancer_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads whole clusters through section 14 of the protocol.
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
