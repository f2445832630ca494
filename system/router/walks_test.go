package router_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
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

// TestTable: a router has a table of the collections that it was asked about, and makes none up of
// others.
func TestTable(t *testing.T) {
	s := newStage()
	defer s.Close()
	s.Send("driver", "scan", func(t env.Task) { _, _ = s.scan(t, 0, 5, 9) })
	if err := s.Pass(time.Second); err != nil {
		t.Fatal(err)
	}
	if table := s.router.Table(ns); table == nil || table.Version() != s.table.Version() {
		t.Errorf("the router has table %v of a collection that it has read, not %v", table, s.table)
	}
	if table := s.router.Table("test.none"); table != nil {
		t.Errorf("the router has table %v of a collection that it was never asked about", table)
	}
}
