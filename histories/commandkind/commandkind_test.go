package commandkind

import (
	"strings"
	"testing"
)

// TestTable: every kind has a name of its own, and each operand fills in another part.
func TestTable(t *testing.T) {
	names := map[Name]bool{}
	for _, name := range All() {
		if names[name] {
			t.Errorf("%s is declared twice", name)
		}
		names[name] = true
		filled := map[string]Operand{}
		for _, o := range name.Operands() {
			if other, is := filled[part(o)]; is {
				t.Errorf("%s: %q and %q are both the %s", name, other, o, part(o))
			}
			filled[part(o)] = o
		}
	}
}

// part is what an operand fills in.
func part(o Operand) string {
	switch {
	case o <= Document:
		return "name"
	case o <= SettingValue:
		return "value"
	case o <= Range:
		return "keys"
	}
	return "fields"
}

// TestOperands: every operand says what it is.
func TestOperands(t *testing.T) {
	for o := Namespace; o <= Fields; o++ {
		if o.String() == "" {
			t.Errorf("operand %d does not say what it is", o)
		}
	}
}

// TestList holds the order in which kinds are listed, and that nothing follows from an unknown one.
func TestList(t *testing.T) {
	if got := List(); !strings.HasPrefix(got, "set, cleanup-orphaned, join-migrations, ") {
		t.Errorf("got %s", got)
	}
	if len(All()) != len(operandsByName) || !ZoneRange.Known() {
		t.Error("a kind is not listed or not known")
	}
	if n := Name("twist"); n.Known() || n.Operands() != nil {
		t.Error("a kind that is none has operands")
	}
}
