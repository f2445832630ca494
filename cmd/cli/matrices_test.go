package cli

import "testing"

// TestRenewed puts sections into a file: new ones at the end, known ones in their place.
func TestRenewed(t *testing.T) {
	text := "# Head\n"
	for _, s := range [][2]string{
		{"a", "one\n"},
		{"ab", "two\n"},
		{"a", "three\n"},
		{"ab", "two\n"},
	} {
		text = withSection(text, s[0], s[1])
	}
	const want = "# Head\n\n<!-- begin of a -->\nthree\n<!-- end of a -->\n\n<!-- begin of ab " +
		"-->\ntwo\n<!-- end of ab -->\n"
	if text != want {
		t.Errorf("the file is\n%s", text)
	}
}
