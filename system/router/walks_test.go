package router_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/protocoltest"
)

// TestRouter leads a router among simulated shards through section 3 of the protocol.
func TestRouter(t *testing.T) {
	start := func() *protocoltest.Stage { return newStage().Stage }
	protocoltest.Run(t, "testdata/3-router", start)
}

// TestRouting leads whole clusters through what applications and operators ask of routers.
func TestRouting(t *testing.T) { protocoltest.RunClusters(t, "testdata/3-routing") }

// TestReads leads whole clusters through reads of the past (section 11 of the protocol).
func TestReads(t *testing.T) { protocoltest.RunClusters(t, "testdata/11-reads") }

// TestChangeStreams leads whole clusters through section 12 of the protocol, as far as it is
// routing.
func TestChangeStreams(t *testing.T) { protocoltest.RunClusters(t, "testdata/12-change-streams") }

// TestUnknownTable: a router that was never asked about a collection has no table of it, and makes
// none up.
func TestUnknownTable(t *testing.T) {
	s := newStage()
	defer s.Close()
	if table := s.router.Table("test.none"); table != nil {
		t.Errorf("the router has table %v of a collection that it was never asked about", table)
	}
}
