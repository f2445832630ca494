package suggest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnknownNamesTheNearest(t *testing.T) {
	known := []string{
		"donor.persistDecision.before", "donor.persistDecision.after", "recipient.cloneDone",
		"config.commit.reply",
	}
	for _, c := range []struct {
		name string
		near []string
	}{
		{
			"donor.persistDecison.before",
			[]string{"donor.persistDecision.before", "donor.persistDecision.after"},
		},
		{"cloneDone", []string{"recipient.cloneDone"}},
		{"Recipient.CLONEDONE", []string{"recipient.cloneDone"}},
		{"zzz", nil},
	} {
		if diff := cmp.Diff(c.near, Nearest(c.name, known)); diff != "" {
			t.Errorf("nearest to %q (-want +got):\n%s", c.name, diff)
		}
	}
	got := Unknown("failpoint", "recipient.clonDone", known, "failpoints").Error()
	want := "there is no failpoint \"recipient.clonDone\"; did you mean recipient.cloneDone? " +
		"`shardproof list failpoints` names them all"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
