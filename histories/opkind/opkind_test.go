package opkind

import (
	"strings"
	"testing"
)

// TestTable: every kind says what it is, and carries nothing that its shape has no use for.
func TestTable(t *testing.T) {
	for _, k := range All() {
		document := k.Shape == Keyed
		switch {
		case k.About == "" || k.Shape == 0:
			t.Errorf("%s says too little of itself", k.Name)
		case !document && (k.Value || k.Condition != Unconditional || k.Refused != NeverRefused):
			t.Errorf("%s has no document of its own", k.Name)
		case document && k.Value != (k.Effect == Set || k.Effect == Change || k.Effect == Append):
			t.Errorf("%s writes without a value, or has one for nothing", k.Name)
		case (k.Condition != Unconditional) && k.Refused == NeverRefused:
			t.Errorf("%s has a condition and does not say what its refusal means", k.Name)
		case k.Renames != (k.Effect == Move):
			t.Errorf("%s moves without a name, or has one for nothing", k.Name)
		case k.Shape == Whole != (k.Name.Whole()):
			t.Errorf("%s is not sure whether it is about a collection", k.Name)
		}
	}
}

// TestList holds the order in which kinds are explained.
func TestList(t *testing.T) {
	got := List()
	if !strings.HasPrefix(got, "read, write, ") {
		t.Errorf("got %s", got)
	}
	if len(All()) != strings.Count(got, ",")+2 || strings.Contains(got, "watch") {
		t.Errorf("%d kinds, of which a scenario can have %s", len(All()), got)
	}
}

// TestUnknown: nothing follows from a name that is none.
func TestUnknown(t *testing.T) {
	n := Name("twist")
	if n.Known() || n.Writes() || n.Whole() || n.Of().Reads() || n.Of().Expects() {
		t.Error("a kind that is none can do something")
	}
	if Watch.Known() {
		t.Error("a scenario can have a watch")
	}
}
