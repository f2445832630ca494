package mistakes

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
)

// TestGrounds: of each request, on which grounds it cannot be granted.
func TestGrounds(t *testing.T) {
	const ns = "test.docs"
	keys := map[string]key.Pattern{ns: {Field: "k"}}
	gone, closed := "there is no shard a", "one of the shards does not exist, or is draining"
	missing, epoch := ns+" is not sharded", "it is not sharded, or is another incarnation than the "+
		"request names"
	for name, c := range map[string]struct {
		asked  env.Message
		v80    []string
		v42    []string // nil for the same
		noKeys bool
	}{
		"a move":    {asked: &command.MoveRange{NS: ns, To: "a"}, v80: []string{closed}, v42: []string{gone}},
		"a primary": {asked: &command.MovePrimary{To: "a"}, v80: []string{closed}},
		"a commit": {
			asked: &command.CommitChunkMigration{NS: ns, From: "b", To: "a"},
			v80:   []string{closed, epoch},
			v42:   []string{gone, epoch, "the key is not on b", "there is no such chunk"},
		},
		"a split": {asked: &command.CommitChunkSplit{NS: ns, Shard: "b"},
			v80: []string{epoch, "the key is not on b", "there is no such chunk"}},
		"a merge": {asked: &command.CommitChunksMerge{NS: ns, Shard: "b"},
			v80: []string{epoch, "the key is not on b",
				"the range does not consist of whole chunks of one shard"}},
		"all chunks":      {asked: &command.CommitMergeAllChunks{NS: ns}, v80: []string{missing}},
		"balancing":       {asked: &command.ConfigureCollectionBalancing{NS: ns}, v80: []string{missing}},
		"a flag":          {asked: &command.ClearJumboFlag{NS: ns}, v80: []string{missing}},
		"a drop of any":   {asked: &command.DropCollection{NS: ns}},
		"a drop":          {asked: &command.DropCollection{NS: ns, Sharded: true}, v80: []string{missing}},
		"an index":        {asked: &command.CreateIndex{NS: ns}, v80: []string{missing}},
		"no index":        {asked: &command.DropIndex{NS: ns}, v80: []string{missing}},
		"a name":          {asked: &command.RenameCollection{NS: ns, To: "b"}, v80: []string{missing, "b is sharded"}},
		"a name for good": {asked: &command.RenameCollection{NS: ns, DropTarget: true}, v80: []string{missing}},
		"its key":         {asked: &command.ShardCollection{NS: ns, Key: keys[ns]}},
		"another key":     {asked: &command.ShardCollection{NS: ns}, v80: []string{ns + " is sharded"}},
		"an unknown key":  {asked: &command.ShardCollection{NS: ns}, noKeys: true},
		"a zone's shard":  {asked: &command.AddShardToZone{Shard: "a"}, v80: []string{gone}},
		"no zone's shard": {asked: &command.RemoveShardFromZone{Shard: "a"}, v80: []string{gone}},
		"a limit":         {asked: &command.LimitShard{Name: "a"}, v80: []string{gone}},
		"a removal":       {asked: &command.RemoveShard{Name: "a"}, v80: []string{gone}},
		"an addition":     {asked: &command.AddShard{Name: "a"}, v80: []string{"a is a shard with another limit"}},
		"no zone's range": {asked: &command.UpdateZoneKeyRange{NS: ns, Field: "k"}},
		"another's range": {asked: &command.UpdateZoneKeyRange{NS: ns, Field: "v"}, v80: []string{ns + " is sharded"}},
		"a range": {asked: &command.UpdateZoneKeyRange{NS: ns, Zone: "z"}, v80: []string{
			"zone z has no shard that is not draining", "another range of a zone overlaps"}},
		"another request": {asked: &command.BalancerStart{}},
	} {
		for _, p := range protocol.All() {
			want := c.v80
			if p == protocol.V42 && c.v42 != nil {
				want = c.v42
			}
			r := Rules{Protocol: p, Keys: keys}
			if c.noKeys {
				r.Keys = nil
			}
			var got []string
			for _, g := range r.Grounds(c.asked) {
				got = append(got, g.Wants)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in %s: the grounds are %q, not %q", name, p, got, want)
			}
		}
	}
}
