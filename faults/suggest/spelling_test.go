package suggest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnknownNamesTheNearest(t *testing.T) {
	known := []string{"d.persistDecision.before", "d.persistDecision.after", "r.cloneDone", "c.commit.reply"}
	for _, c := range []struct {
		name string
		near []string
	}{
		{"d.persistDecison.before", []string{"d.persistDecision.before"}},
		{"cloneDone", []string{"r.cloneDone"}},
		{"R.CLONEDONE", []string{"r.cloneDone"}},
		{"zzz", nil},
	} {
		if diff := cmp.Diff(c.near, Nearest(c.name, known)); diff != "" {
			t.Errorf("nearest to %q (-want +got):\n%s", c.name, diff)
		}
	}
	got := Unknown("failpoint", "r.clonDone", known, "failpoints").Error()
	want := "there is no failpoint \"r.clonDone\"; did you mean r.cloneDone? `shardproof list failpoints` names them all"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
