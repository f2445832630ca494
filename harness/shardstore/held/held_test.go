package held

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// What a shard has answered is looked for in what a majority has, not in what its primary has.
func TestLacked(t *testing.T) {
	const ns = "test.docs"
	step := func(step command.ParticipantStep) any {
		return &command.ShardsvrParticipate{
			Operation: 7, Step: step, Collection: catalog.Collection{NS: ns},
		}
	}
	document := func(in, id string, fields bson.D) oplog.Op {
		raw, err := bson.Marshal(append(bson.D{{Key: "_id", Value: id}}, fields...))
		if err != nil {
			t.Fatal(err)
		}
		return oplog.Op{Kind: oplog.Insert, NS: in, ID: string(key.String(id)), Doc: raw}
	}
	over := func(number int64) oplog.Op {
		return document(shard.ParticipationsNS, ns, bson.D{{Key: "released", Value: number}})
	}
	order := func(at int64) oplog.Op {
		return document(shard.VersionNS, shard.MembershipID, bson.D{{Key: "at", Value: at}})
	}
	session := func(txn int64) oplog.Op {
		return document(shard.SessionsNS, "s", bson.D{{Key: "txn", Value: txn}})
	}
	task := func(pending bool) oplog.Op {
		return document(rangedel.Namespace, "m", bson.D{
			{Key: "collectionUuid", Value: "u"}, {Key: "pending", Value: pending},
		})
	}
	taskOp := func(op string) any {
		return &command.RangeTaskOp{Migration: "m", UUID: "u", Op: op}
	}
	leaving := document(shard.VersionNS, shard.MembershipID,
		bson.D{{Key: "at", Value: int64(4)}, {Key: "leaving", Value: true}})
	blocked := document(shard.SectionsNS, ns, nil)
	made, gone := oplog.Op{Kind: oplog.Create, NS: ns}, oplog.Op{Kind: oplog.Drop, NS: ns}
	for name, c := range map[string]struct {
		asked           any
		majority, newer []oplog.Op
		lacking         string
	}{
		"blocked":         {step(command.ParticipantBlock), []oplog.Op{blocked}, nil, ""},
		"blocked here":    {step(command.ParticipantBlock), nil, []oplog.Op{blocked}, "nobody"},
		"over":            {step(command.ParticipantRelease), []oplog.Op{over(7)}, nil, ""},
		"over here":       {step(command.ParticipantRelease), nil, []oplog.Op{over(7)}, "number 0"},
		"an earlier over": {step(command.ParticipantRelease), []oplog.Op{over(6)}, nil, "number 6"},
		"late block":      {step(command.ParticipantBlock), []oplog.Op{over(8)}, nil, ""},
		"made":            {step(command.ParticipantCreate), []oplog.Op{made}, nil, ""},
		"made here":       {step(command.ParticipantCreate), nil, []oplog.Op{made}, "exists: true"},
		"not to be made":  {step(command.ParticipantCreate), nil, nil, ""},
		"dropped":         {step(command.ParticipantDrop), []oplog.Op{made, gone}, nil, ""},
		"dropped here": {step(command.ParticipantDrop), []oplog.Op{made}, []oplog.Op{gone},
			"exists: false"},
		"another one stays": {step(command.ParticipantDrop), []oplog.Op{made}, nil, ""},
		"leaves":            {&command.ShardsvrLeaveCluster{At: 5}, []oplog.Op{order(5)}, nil, ""},
		"leaves here": {&command.ShardsvrLeaveCluster{At: 5}, nil, []oplog.Op{order(5)},
			"of 0.0, not 0.5"},
		"leaves, asked again": {&command.ShardsvrLeaveCluster{At: 5}, []oplog.Op{leaving}, nil, ""},
		"leaves, and an operation begins": {
			&command.ShardsvrLeaveCluster{At: 5}, []oplog.Op{leaving, document(shard.SectionsNS, ns,
				bson.D{{Key: "blockReads", Value: true}})}, nil, "",
		},
		"leaves, and blocks": {&command.ShardsvrLeaveCluster{At: 5}, []oplog.Op{leaving, blocked}, nil,
			"still has"},
		"leaves, and waits": {&command.ShardsvrLeaveCluster{At: 5}, []oplog.Op{leaving, task(true)},
			nil, "waits for the outcome of migration m"},
		"leaves, and deletes": {&command.ShardsvrLeaveCluster{At: 5},
			[]oplog.Op{leaving, task(false)}, nil, ""},
		"joins later": {&command.ShardsvrJoinCluster{At: 5}, []oplog.Op{order(6)}, nil, ""},
		"joins here":  {&command.ShardsvrJoinCluster{At: 5}, nil, []oplog.Op{order(5)}, "not 0.5"},
		"fenced":      {&command.AdvanceTxn{Lsid: "s", Txn: 4}, []oplog.Op{session(4)}, nil, ""},
		"fenced here": {&command.AdvanceTxn{Lsid: "s", Txn: 4}, []oplog.Op{session(3)},
			[]oplog.Op{session(4)}, "at transaction 3, not 4"},
		"copy not fenced": {&command.DropClonedData{Lsid: "s", Txn: 4},
			[]oplog.Op{session(4)}, nil, "not 5"},
		"task kept":  {taskOp("delete"), []oplog.Op{task(false)}, nil, "still there"},
		"task open":  {taskOp("ready"), []oplog.Op{task(true)}, nil, "waits for the outcome"},
		"task ready": {taskOp("ready"), []oplog.Op{task(false)}, nil, ""},
		"task of others": {&command.RangeTaskOp{Migration: "m", UUID: "v", Op: "delete"},
			[]oplog.Op{task(true)}, nil, ""},
		"counted":  {taskOp("orphans"), []oplog.Op{task(true)}, nil, ""},
		"released": {&command.RecvChunkReleaseCritSec{Migration: "m"}, nil, nil, ""},
		"not released": {&command.RecvChunkReleaseCritSec{Migration: "m"},
			[]oplog.Op{document(migration.RecipientsNS, "m", nil)}, nil, "migration m on record"},
		"a read": {&command.Find{NS: ns}, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Log{Store: store.New(), Tables: &configsvr.TableReader{}}
			index := uint64(0)
			for _, ops := range [][]oplog.Op{c.majority, c.newer} {
				for _, op := range ops {
					index++
					if err := h.Store.Apply(index, []oplog.Op{op}); err != nil {
						t.Fatal(err)
					}
				}
				if h.Committed == 0 {
					h.Committed = uint64(len(c.majority))
				}
			}
			_, lacking := h.Lacks(c.asked)
			if lacking == "" != (c.lacking == "") || !strings.Contains(lacking, c.lacking) {
				t.Errorf("%q, not %q", lacking, c.lacking)
			}
		})
	}
}

// TestLacksForSuccessor: before a commit, before the recipient gives up its deletion, and before a
// range moves or a collection changes in 4.2, a majority has what the successor goes by.
func TestLacksForSuccessor(t *testing.T) {
	record := func(in, id string, fields bson.D) oplog.Op {
		raw, err := bson.Marshal(append(bson.D{{Key: "_id", Value: id}}, fields...))
		if err != nil {
			t.Fatal(err)
		}
		return oplog.Op{Kind: oplog.Insert, NS: in, ID: string(key.String(id)), Doc: raw}
	}
	counted := func(n int) oplog.Op {
		return record(shard.VersionNS, "minOpTimeRecovery",
			bson.D{{Key: "minOpTimeUpdaters", Value: n}})
	}
	made := oplog.Op{Kind: oplog.Create, NS: "test.docs"}
	begun := record(migration.CoordinatorsNS, "m", nil)
	decided := record(migration.CoordinatorsNS, "m", bson.D{{Key: "decision", Value: "committed"}})
	waits := record(rangedel.Namespace, "m", bson.D{{Key: "pending", Value: true}})
	commit := func(records bool) func(*Log) string {
		return func(h *Log) string { return h.LacksForCommit("m", records) }
	}
	taskOp := func(op string) func(*Log) string {
		return func(h *Log) string {
			return h.LacksForTaskOp(&command.RangeTaskOp{NS: "test.docs", Migration: "m", Op: op})
		}
	}
	const shared, own = "migrate chunks of test.docs", "drop test.docs"
	lock := func(session, why string) oplog.Op {
		return record(configsvr.Locks, "test.docs",
			bson.D{{Key: "ts", Value: session}, {Key: "why", Value: why}})
	}
	locked := func(migrates bool) func(*Log) string {
		return func(h *Log) string { return h.LacksLock("test.docs", 3, migrates) }
	}
	for name, c := range map[string]struct {
		lacks   func(*Log) string
		has     []oplog.Op
		lacking string
	}{
		"commit":                       {commit(true), []oplog.Op{begun, waits}, ""},
		"commit without a record":      {commit(true), []oplog.Op{waits}, "does not have migration m"},
		"commit without a deletion":    {commit(true), []oplog.Op{begun}, "no deletion waits"},
		"commit of 4.2":                {commit(false), []oplog.Op{counted(1)}, ""},
		"commit of 4.2, uncounted":     {commit(false), []oplog.Op{counted(0)}, "no commit in progress"},
		"commit of 4.2, never counted": {commit(false), nil, "no commit in progress"},
		"decided":                      {taskOp("delete"), []oplog.Op{made, decided}, ""},
		"undecided":                    {taskOp("delete"), []oplog.Op{made, begun}, `on record is ""`},
		"undecided, and dropped":       {taskOp("delete"), []oplog.Op{begun}, ""},
		"a question":                   {taskOp("orphans"), []oplog.Op{begun}, ""},
		"no lock":                      {locked(true), nil, "no majority has a lock"},
		"a migration under its lock":   {locked(true), []oplog.Op{lock("config/3", shared)}, ""},
		"a migration under another's":  {locked(true), []oplog.Op{lock("config/3", own)}, "taken to " + own},
		"an operation under its lock":  {locked(false), []oplog.Op{lock("config/3", own)}, ""},
		"an operation under another's": {locked(false), []oplog.Op{lock("config/3", shared)}, shared},
		"the lock of an earlier term":  {locked(true), []oplog.Op{lock("config/2", shared)}, "config/2"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Log{Store: store.New(), Committed: 1}
			if err := h.Store.Apply(1, c.has); err != nil {
				t.Fatal(err)
			}
			if lacking := c.lacks(h); lacking == "" != (c.lacking == "") ||
				!strings.Contains(lacking, c.lacking) {
				t.Errorf("%q, not %q", lacking, c.lacking)
			}
		})
	}
}

// What the definition of a collection has, and another one lacks.
func TestDefinition(t *testing.T) {
	const ns = "test.docs"
	one, two := store.New(), store.New()
	for _, of := range []*store.Store{one, two} {
		if err := of.Apply(1, []oplog.Op{
			{Kind: oplog.Create, NS: ns, Doc: store.EncodeOptions("u", key.Pattern{Field: "k"})},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if lacks := Lacking(Definition(one, ns), Definition(two, ns)); len(lacks) > 0 {
		t.Errorf("equal ones differ in %v", lacks)
	}
	index, err := bson.Marshal(bson.D{{Key: "a", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := bson.Marshal(bson.D{
		{Key: "_id", Value: ns}, {Key: "formerly", Value: bson.A{"test.former"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Apply(2, []oplog.Op{
		{Kind: oplog.CreateIndex, NS: ns, ID: "a_1", Doc: index},
		{Kind: oplog.Insert, NS: shard.ParticipationsNS, ID: string(key.String(ns)), Doc: doc},
	}); err != nil {
		t.Fatal(err)
	}
	lacks := strings.Join(Lacking(Definition(one, ns), Definition(two, ns)), ", ")
	if !strings.Contains(lacks, "the index a_1") || !strings.Contains(lacks, "the former name test.former") {
		t.Errorf("the other lacks %s", lacks)
	}
	if lacks := Lacking(Definition(two, ns), Definition(one, ns)); len(lacks) > 0 {
		t.Errorf("it lacks %v the other way round", lacks)
	}
	if of := Definition(one, "test.none"); of != nil {
		t.Errorf("of none: %v", of)
	}
}
