package settings_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks shows what settings do that no other walk is about.
func TestWalks(t *testing.T) { protocoltest.RunClusters(t, "testdata/walks") }
