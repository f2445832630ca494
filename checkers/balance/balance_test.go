package balance_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/balance"
)

// chunks reads "a:x b:y! c:x" as chunks that begin at a, b and c, on the shards x, y and x; a mark
// says that one is jumbo. The last ends at z.
func chunks(text string) (all []balance.Chunk) {
	for _, word := range strings.Fields(text) {
		lo, shard, _ := strings.Cut(word, ":")
		name, jumbo := strings.CutSuffix(shard, "!")
		if n := len(all); n > 0 {
			all[n-1].Max = lo
		}
		all = append(all, balance.Chunk{Min: lo, Max: "z", Shard: name, Jumbo: jumbo})
	}
	return all
}

// choices reads "a:x-y" as the chunk at a that goes from x to y.
func choices(r *balance.Round, text string) (all []balance.Choice) {
	for _, word := range strings.Fields(text) {
		lo, way, _ := strings.Cut(word, ":")
		from, to, _ := strings.Cut(way, "-")
		all = append(all, balance.Choice{
			NS: "db.c", Min: lo, Max: r.End("db.c", lo), From: from, To: to,
		})
	}
	return all
}

func TestJudge(t *testing.T) {
	east := []balance.Zone{{Min: "c", Max: "f", Name: "east"}}
	for name, c := range map[string]struct {
		chunks  string
		round   balance.Round
		coll    balance.Collection
		right   []string
		mistake []string
	}{
		"even": {
			chunks: "a:x b:y c:v", right: []string{""}, mistake: []string{"a:x-y"},
		},
		"uneven": {
			chunks: "a:x b:x c:x d:y e:v",
			right:  []string{"a:x-y", "a:x-v"}, mistake: []string{"", "b:x-v", "a:x-y e:v-x"},
		},
		"one has all": {
			chunks: "a:x b:x c:x", right: []string{"a:x-v", "a:x-y"},
			mistake: []string{"", "b:x-v", "a:x-v b:x-y"},
		},
		"its first is jumbo": {
			chunks: "a:x! b:x c:x", right: []string{"b:x-v"}, mistake: []string{"a:x-v", ""},
		},
		"draining first": {
			chunks: "a:x b:x c:x d:x e:y",
			round: balance.Round{Shards: []balance.Shard{
				{Name: "v"},
				{Name: "x"},
				{Name: "y", Draining: true},
			}},
			right: []string{"e:y-v"}, mistake: []string{"a:x-v", ""},
		},
		"nobody takes it": {
			chunks: "a:y b:y c:y",
			round: balance.Round{Shards: []balance.Shard{
				{Name: "x", Draining: true},
				{Name: "y", Draining: true},
			}},
			right: []string{""}, mistake: []string{"a:y-x"},
		},
		"out of its zone": {
			chunks: "a:x c:x f:x",
			round: balance.Round{Shards: []balance.Shard{
				{Name: "v"},
				{Name: "x"},
				{Name: "y", Zones: []string{"east"}},
			}},
			coll:  balance.Collection{Zones: east},
			right: []string{"c:x-y"}, mistake: []string{"a:x-v", "c:x-v", ""},
		},
		"zones one after the other": { // x could give to w then, but its zone has had its turn
			chunks: "a:v c:x d:x e:x f:y g:y i:x j:w k:w l:w m:v n:v o:v p:v",
			round: balance.Round{Shards: []balance.Shard{
				{Name: "v"},
				{Name: "w", Zones: []string{"east"}},
				{Name: "x", Zones: []string{"east"}},
				{Name: "y", Zones: []string{"east"}},
			}},
			coll:  balance.Collection{Zones: []balance.Zone{{Min: "c", Max: "i", Name: "east"}}},
			right: []string{"a:v-y"}, mistake: []string{"", "c:x-w", "a:v-y c:x-w"},
		},
		"a busy shard": {
			chunks: "a:x b:x c:x",
			round: balance.Round{Shards: []balance.Shard{
				{Name: "v", Busy: true},
				{Name: "x"},
				{Name: "y"},
			}},
			right: []string{"a:x-y"}, mistake: []string{"a:x-v", ""},
		},
		"a full shard": {
			chunks: "a:x b:x c:x",
			round: balance.Round{Shards: []balance.Shard{
				{Name: "v", MaxBytes: 5},
				{Name: "x"},
				{Name: "y"},
			}},
			coll:  balance.Collection{Bytes: map[string]int64{"v": 5}},
			right: []string{"a:x-y"}, mistake: []string{"a:x-v"},
		},
		"by size": {
			chunks: "a:x b:y c:v", round: balance.Round{BySize: true},
			coll: balance.Collection{ChunkBytes: 10,
				Bytes: map[string]int64{"x": 40, "y": 10, "v": 20}},
			right: []string{"a:x-y"}, mistake: []string{"a:x-v", ""},
		},
		"by size, one reason": {
			chunks: "a:v c:w e:y", round: balance.Round{BySize: true, Shards: []balance.Shard{
				{Name: "v"},
				{Name: "w"},
				{Name: "x", Zones: []string{"east"}},
				{Name: "y", Draining: true},
			}},
			coll: balance.Collection{
				Zones: []balance.Zone{{Min: "c", Max: "d", Name: "east"}},
				Bytes: map[string]int64{"v": 1, "w": 2, "x": 3, "y": 4},
			},
			right: []string{"e:y-v"}, mistake: []string{"e:y-v c:w-x", "c:w-x", ""},
		},
		"by number, all reasons": {
			chunks: "a:v b:x c:w d:w e:y", round: balance.Round{Shards: []balance.Shard{
				{Name: "v"},
				{Name: "w"},
				{Name: "x", Zones: []string{"east"}},
				{Name: "y", Draining: true},
			}},
			coll:  balance.Collection{Zones: []balance.Zone{{Min: "c", Max: "d", Name: "east"}}},
			right: []string{"e:y-v c:w-x"}, mistake: []string{"e:y-v", ""},
		},
		"by size, of those that answer": {
			chunks: "a:x b:y c:v", round: balance.Round{BySize: true},
			coll:  balance.Collection{ChunkBytes: 10, Bytes: map[string]int64{"x": 40, "v": 11}},
			right: []string{""}, mistake: []string{"a:x-y", "a:x-v"},
		},
		"a small chunk between others": {
			chunks: "a:x b:y c:x", round: balance.Round{BySize: true},
			coll: balance.Collection{
				Defragment: true, ChunkBytes: 100,
				Sizes: map[string]int64{"a": 50, "b": 10, "c": 60},
			},
			right: []string{"b:y-x"}, mistake: []string{"", "b:y-v"},
		},
		"a small chunk beside one of unknown size": {
			chunks: "a:x b:y", round: balance.Round{BySize: true},
			coll: balance.Collection{
				Defragment: true, ChunkBytes: 100, Sizes: map[string]int64{"b": 10},
			},
			right: []string{""}, mistake: []string{"b:y-x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.round
			if r.Shards == nil {
				r.Shards = []balance.Shard{{Name: "v"}, {Name: "x"}, {Name: "y"}}
			}
			c.coll.NS, c.coll.Chunks = "db.c", chunks(c.chunks)
			r.Collections = []balance.Collection{c.coll}
			show := func(k string) string { return k }
			for _, text := range c.right {
				if wrong := r.Judge(choices(&r, text), show); wrong != "" {
					t.Errorf("%q: %s", text, wrong)
				}
			}
			for _, text := range c.mistake {
				if r.Judge(choices(&r, text), show) == "" {
					t.Errorf("%q is nothing wrong", text)
				}
			}
		})
	}
}

func TestPoints(t *testing.T) {
	ten := strings.Split("abcdefghij", "")
	for name, c := range map[string]struct {
		keys []string
		size int64
		want string
	}{
		"less than a chunk":          {ten, 101, ""},
		"one key":                    {strings.Split("aaaaaaaaaa", ""), 30, ""},
		"even parts":                 {ten, 50, "e"},
		"a tail that is left":        {ten, 40, "d h"},
		"a key with many documents":  {strings.Split("abbbbbbbbc", ""), 30, "b"},
		"parts of a single document": {ten, 10, "b c d e f g h i j"},
	} {
		t.Run(name, func(t *testing.T) {
			x := balance.Extent{Keys: c.keys, Bytes: 100}
			if got := x.Points("a", "z", c.size); !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

// A request names the cluster's size of chunks as of the beginning of its round, or the collection's
// own as of when it is made: a mixture of states, and never a size that nothing had.
func TestChunkSizes(t *testing.T) {
	state := func(cluster, own int64) *balance.Round {
		return &balance.Round{ChunkBytes: cluster, Collections: []balance.Collection{{
			NS: "test.docs", ChunkBytes: max(own, cluster), OwnSize: own > 0,
		}}}
	}
	for name, c := range map[string]struct {
		states []*balance.Round
		want   []int64
	}{
		"the cluster's":              {[]*balance.Round{state(168, 0)}, []int64{168}},
		"its own":                    {[]*balance.Round{state(168, 800)}, []int64{800}},
		"both changed, own one gone": {[]*balance.Round{state(168, 800), state(600, 0)}, []int64{168, 600, 800}},
		"the cluster's changed":      {[]*balance.Round{state(168, 800), state(600, 800)}, []int64{800}},
		"no such collection":         {[]*balance.Round{{ChunkBytes: 168}}, []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := balance.ChunkSizes("test.docs", c.states); !slices.Equal(got, c.want) {
				t.Errorf("sizes are %v, want %v", got, c.want)
			}
		})
	}
}

// TestUnfinished: a collection is defragmented when nothing can be joined, here or after a move, and
// all sizes are known.
func TestUnfinished(t *testing.T) {
	chunk := func(min, max, shard string) balance.Chunk {
		return balance.Chunk{Min: min, Max: max, Shard: shard}
	}
	for name, c := range map[string]struct {
		chunks []balance.Chunk
		sizes  map[string]int64
		want   string
	}{
		"big ones": {
			[]balance.Chunk{chunk("a", "m", "x"), chunk("m", "z", "y")},
			map[string]int64{"a": 90, "m": 80}, "",
		},
		"neighbours on one shard": {
			[]balance.Chunk{chunk("a", "m", "x"), chunk("m", "z", "x")},
			map[string]int64{"a": 90, "m": 80}, "x has 2 chunks to merge from a on",
		},
		"of an unknown size": {
			[]balance.Chunk{chunk("a", "m", "x"), chunk("m", "z", "y")},
			map[string]int64{"a": 90}, "y has not reported the size of the chunk at m",
		},
		"a small one beside another": {
			[]balance.Chunk{chunk("a", "m", "x"), chunk("m", "z", "y")},
			map[string]int64{"a": 10, "m": 80}, "[a, m) of test.docs from x to y has still to move",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := balance.Round{
				Shards: []balance.Shard{{Name: "x", Busy: true}, {Name: "y"}},
				Collections: []balance.Collection{{
					NS: "test.docs", Chunks: c.chunks, Sizes: c.sizes, ChunkBytes: 100,
				}},
			}
			if got := r.Unfinished("test.docs", func(k string) string { return k }); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestCuts: chunks are cut at the boundaries of zones, unless nothing may move, and where the
// collection has to have bounds at any rate.
func TestCuts(t *testing.T) {
	for name, c := range map[string]struct {
		off  bool
		must []string
		want map[string][]string
	}{
		"zones":                    {false, nil, map[string][]string{"a": {"c"}, "d": {"f"}}},
		"zones, but nothing moves": {true, nil, map[string][]string{}},
		"too few chunks": {
			true, []string{"b", "d", "e"}, map[string][]string{"a": {"b"}, "d": {"e"}},
		},
		"both": {
			false, []string{"b", "c"}, map[string][]string{"a": {"b", "c"}, "d": {"f"}},
		},
	} {
		r := &balance.Round{Collections: []balance.Collection{{
			NS: "db.c", Chunks: chunks("a:x d:y"), Off: c.off, Bounds: c.must,
			Zones: []balance.Zone{{Min: "c", Max: "f", Name: "east"}},
		}}}
		if got := r.Cuts("db.c"); !maps.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

// TestOutermostAfterwards: the outermost document is looked up after the points were found.
func TestOutermostAfterwards(t *testing.T) {
	before := balance.Extent{Keys: strings.Split("abcdefghij", ""), Bytes: 100}
	after := balance.Extent{Keys: strings.Split("abcdefghijkl", ""), Bytes: 120}
	at := before.Automatic(before, "a", "\xff", 60, false, true, false)
	now := before.Automatic(after, "a", "\xff", 60, false, true, false)
	n := len(at) - 1
	if n < 1 || !slices.Equal(at[:n], now[:n]) || at[n] != "j" || now[n] != "l" {
		t.Errorf("the points are %v, and with two documents more behind them %v", at, now)
	}
}
