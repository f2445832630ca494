package shardstore

import (
	"testing"

	"github.com/shardproof/shardproof/system/command"
)

// An answer whose two halves deny each other is not the violation that it names.
func TestViolationOf(t *testing.T) {
	for want, is := range map[string]command.BalancerCollectionStatusReply{
		"":         {Compliant: true},
		"draining": {FirstViolation: "draining"},
		`compliant true, first violation "draining"`: {
			Compliant: true, FirstViolation: "draining",
		},
		`compliant false, first violation ""`: {},
	} {
		if got := violationOf(&is); got != want {
			t.Errorf("%+v is %q, want %q", is, got, want)
		}
	}
}
