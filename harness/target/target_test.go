package target_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/example/kvtarget"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
)

// TestFind gives scenarios that name no target the first, and tells what a wrong name may have been
// meant for.
func TestFind(t *testing.T) {
	set := target.Set{shardstore.Store{}, kvtarget.Target{}}
	for name, want := range map[string]string{
		"":           "shardstore",
		"shardstore": "shardstore",
		"kvstore":    "kvstore",
	} {
		if got, err := set.Find(name); err != nil || got.Describe().Name != want {
			t.Errorf("the target %q is %v, %v", name, got, err)
		}
	}
	if _, err := set.Find("kvstor"); err == nil ||
		!strings.Contains(err.Error(), "did you mean kvstore?") {
		t.Errorf("kvstor: %v", err)
	}
	if _, err := (target.Set{}).Find(""); err == nil {
		t.Error("an empty set has a target")
	}
}

// TestFamilies finds every setting of a family by the start of its name.
func TestFamilies(t *testing.T) {
	d := &target.Description{Settings: []target.Setting{
		{Name: "one"},
		{Name: "zone.a", Prefix: "zone."},
	}}
	for name, want := range map[string]string{
		"one":    "one",
		"zone.b": "zone.a",
		"on":     "",
		"zone":   "",
	} {
		got := ""
		if s := d.Setting(name); s != nil {
			got = s.Name
		}
		if got != want {
			t.Errorf("%s is the setting %q, want %q", name, got, want)
		}
	}
}

// TestFactErrors name the fact and hold the cause.
func TestFactErrors(t *testing.T) {
	cause := errors.New("too late")
	err := error(&target.FactError{Fact: "op 3", Err: cause})
	if err.Error() != "op 3: too late" || !errors.Is(err, cause) {
		t.Errorf("%v does not hold its cause", err)
	}
}

// TestDescriptions are complete: the runner asks for all of it.
func TestDescriptions(t *testing.T) {
	for _, of := range []target.Target{
		shardstore.Store{},
		kvtarget.Target{},
		kvtarget.Target{ForgetsChanges: true},
	} {
		d := of.Describe()
		if d.Name == "" || len(d.Promises)*len(d.Ops)*len(d.Faults)*len(d.Sites) == 0 ||
			d != of.Describe() {
			t.Errorf("%+v lacks something, or is another one at every call", d)
		}
		if m := d.Messages; m.Classify == nil || m.Role == nil || m.Repeatable == nil {
			t.Errorf("%s does not say what its messages are", d.Name)
		}
		for _, s := range d.Settings {
			if err := s.Check(s.Name, s.Default); err != nil {
				t.Errorf("%s refuses the default of a setting of its own: %v", d.Name, err)
			}
		}
	}
}
