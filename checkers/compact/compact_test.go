package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Whatever operations a history has, they are what was added, but for what is documented not to be
// kept.
func TestOperationsAreKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h, want := new(History), []histories.Op(nil)
		for _, op := range rapid.SliceOfN(rapid.Make[histories.Op](), 0, 600).Draw(rt, "ops") {
			op.Kind = rapid.SampledFrom([]opkind.Name{"read", "scan", "push", "?", ""}).Draw(rt, "kind")
			op.CallAt, op.ReturnAt, op.Error, op.Retries, op.Result.N = 0, 0, "", 0, 0
			op.Stream = nil
			h.Add(&op)
			want = append(want, op)
		}
		var got []histories.Op
		for i := range h.Len() {
			got = append(got, *h.Operation(i))
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Operations that watch are kept whole, and apart.
func TestWatchesStandApart(t *testing.T) {
	watch := histories.Op{ID: 2, Kind: opkind.Watch, Error: "e", Stream: &histories.Stream{ID: 7}}
	h := Of([]histories.Op{{ID: 1, Kind: opkind.Read}, watch, {ID: 3, Kind: opkind.Read}})
	if h.Len() != 2 || h.Op(1).ID != 3 {
		t.Errorf("%d operations, the last of which is %d", h.Len(), h.Op(h.Len()-1).ID)
	}
	if diff := cmp.Diff([]histories.Op{watch}, h.Watches); diff != "" {
		t.Error(diff)
	}
}

// Equal texts have equal numbers, others have not, and all of them are found again: short ones and
// those that are too long for a page.
func TestTexts(t *testing.T) {
	var texts Texts
	if n := texts.Of(""); n != 0 || texts.Text(n) != "" {
		t.Errorf("the empty text is %d", n)
	}
	numbers := map[Text]string{}
	for round := range 2 {
		for i := range 50_000 {
			text := fmt.Sprint("w", i)
			switch {
			case i%1000 == 7:
				text = strings.Repeat(text, 100)
			case i%1000 < 3:
				text += strings.Repeat("x", longest-1-len(text)+i%1000) // one less, as long, one more
			case i%20_000 == 8:
				text = strings.Repeat(text, 50_000)
			}
			n := texts.Of(text)
			if known, again := numbers[n]; again != (round == 1) || again && known != text {
				t.Fatalf("%.20q has the number %d of %.20q", text, n, known)
			}
			if numbers[n] = text; texts.Text(n) != text || int(n) >= texts.Len() {
				t.Fatalf("%.20q is number %d of %d, %.20q", text, n, texts.Len(), texts.Text(n))
			}
		}
	}
}
