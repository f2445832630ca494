package configsvr_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestWalks leads a config server among simulated shards through section 3 of the protocol.
func TestWalks(t *testing.T) {
	protocoltest.Run(t, "testdata", func() *protocoltest.Stage { return newStage().Stage })
}
