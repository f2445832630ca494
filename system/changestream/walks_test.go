package changestream_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestChangeStreams leads whole clusters through section 12 of the protocol.
func TestChangeStreams(t *testing.T) { protocoltest.RunClusters(t, "testdata") }
