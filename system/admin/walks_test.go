package admin_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads whole clusters through the administration of a cluster (sections 13 and 14 of the
// protocol).
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
