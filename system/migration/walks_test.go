package migration_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads whole clusters through sections 4 to 9 of the protocol, and recipes of hazards.
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
