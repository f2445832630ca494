package shardstore

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// What is judged of a refusal is what the catalog alone explains: the wanted ground of each code,
// none for a code that may have other reasons.
func TestGroundsOfRefusals(t *testing.T) {
	const ns = "test.docs"
	split := func(at ...key.Key) env.Message {
		return &command.CommitChunkSplit{NS: ns, Min: key.Int(1), Max: key.Int(9), At: at}
	}
	rename := func(to string, drops bool) env.Message {
		return &command.RenameCollection{NS: ns, To: to, DropTarget: drops}
	}
	for name, c := range map[string]struct {
		asked env.Message
		code  errcode.Code
		plain bool // a collection of the scenario is unsharded
		wants string
	}{
		"no answer":                {&command.DropIndex{NS: ns}, errcode.NetworkTimeout, false, ""},
		"no index":                 {&command.DropIndex{NS: ns}, errcode.NamespaceNotFound, false, "test.docs is not sharded"},
		"a name":                   {rename("test.b", false), errcode.NamespaceExists, false, "test.b is sharded"},
		"a name that may be plain": {rename("test.b", false), errcode.NamespaceExists, true, ""},
		"a target": {rename("test.b", true), errcode.NamespaceExists, false,
			"test.b exists and dropTarget was not given"},
		"a plain target": {rename("test.b", true), errcode.NamespaceExists, true,
			"test.b is not sharded"},
		"a legal name": {rename("test.b", true), errcode.BadValue, false,
			"test.b is the old name or in another database"},
		"another database": {rename("more.b", true), errcode.BadValue, false, ""},
		"shards": {&command.ShardCollection{NS: ns}, errcode.ShardNotFound, false,
			"one of the shards does not exist, or is draining"},
		"a split": {split(key.Int(2), key.Int(3)), errcode.IncompatibleShardingMetadata, false,
			"there is no such chunk"},
		"points inside":  {split(key.Int(2)), errcode.BadValue, false, "test.docs is not sharded"},
		"points outside": {split(key.Int(9)), errcode.BadValue, false, ""},
		"points twice":   {split(key.Int(2), key.Int(2)), errcode.BadValue, false, ""},
		"an epoch": {split(), errcode.StaleEpoch, false,
			"it is not sharded, or is another incarnation than the request names"},
		"a merge": {&command.CommitChunksMerge{NS: ns}, errcode.IncompatibleShardingMetadata, false,
			"the range does not consist of whole chunks of one shard"},
		"whose chunks": {&command.CommitChunksMerge{NS: ns, Shard: "a"},
			errcode.ConflictingOperationInProgress, false, "the key is not on a"},
		"all chunks": {&command.CommitMergeAllChunks{NS: ns}, errcode.IncompatibleShardingMetadata,
			false, "the chunks that the config server chose must not be merged"},
		"ranges": {&command.UpdateZoneKeyRange{NS: ns}, errcode.RangeOverlapConflict, false,
			"another range of a zone overlaps"},
		"a limit": {&command.AddShard{Name: "a"}, errcode.IllegalOperation, false,
			"a is a shard with another limit"},
		"documents": {&command.AddShard{Name: "a"}, errcode.OperationFailed, false, ""},
		"the last shard": {&command.RemoveShard{Name: "a"}, errcode.IllegalOperation, false,
			"every shard but a drains"},
		"a zone": {&command.RemoveShardFromZone{Shard: "a", Zone: "z"}, errcode.ZoneStillInUse,
			false, "a is the last shard of zone z, which has ranges"},
		"a shard": {&command.LimitShard{Name: "a"}, errcode.ShardNotFound, false,
			"there is no shard a"},
	} {
		one := &cluster{scenario: &scenario.Scenario{
			Collections: []scenario.Collection{{NS: ns, Unsharded: c.plain}},
		}}
		got := ""
		if g := one.groundOf(c.asked, c.code); g != nil {
			got = g.Wants
		}
		if got != c.wants {
			t.Errorf("%s: the ground is %q, not %q", name, got, c.wants)
		}
	}
}

// TestRefusedByTable: what a router has read since the request came, of the collection or of its
// database, is what a refusal may rest on.
func TestRefusedByTable(t *testing.T) {
	refusal := oracle.Refusal{Node: "router.0", Request: "Update", NS: "t.c", Since: 100}
	for name, c := range map[string]struct {
		learned map[lesson]env.Time
		about   bool
		broken  bool
	}{
		"nothing read":              {nil, true, true},
		"read before":               {map[lesson]env.Time{{"router.0", "t.c"}: 99}, true, true},
		"read for it":               {map[lesson]env.Time{{"router.0", "t.c"}: 100}, true, false},
		"a database":                {map[lesson]env.Time{{"router.0", ""}: 101}, true, false},
		"another collection":        {map[lesson]env.Time{{"router.0", "t.d"}: 101}, true, true},
		"another router":            {map[lesson]env.Time{{"router.1", "t.c"}: 101}, true, true},
		"a refusal of another kind": {nil, false, false},
	} {
		cl := &cluster{oracle: oracle.New(func(k string) string { return k }), learned: c.learned}
		cl.refusedByTable(refusal, c.about)
		found := 0
		for _, v := range cl.oracle.Verdicts() {
			found += v.Found
		}
		if got := found > 0; got != c.broken {
			t.Errorf("%s: broken is %v", name, got)
		}
	}
}
