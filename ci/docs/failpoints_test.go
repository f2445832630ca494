package docs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	failpoints = "docs/failpoints.md"
	sitesBegin = "<!-- sites: `go test ./ci/docs -rewrite` writes these lines -->\n"
	sitesEnd   = "<!-- end of sites -->\n"
)

// TestSites: the page names every failpoint site of the store, with its risk, and no other.
func TestSites(t *testing.T) {
	page := read(t, failpoints)
	before, rest, begins := strings.Cut(page, sitesBegin)
	_, after, ends := strings.Cut(rest, sitesEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the list of sites", failpoints)
	}
	want := before + sitesBegin + listOfSites() + sitesEnd + after
	switch {
	case page == want:
	case *rewrite:
		write(t, filepath.Join(root, failpoints), want)
	default:
		t.Errorf("%s lists other sites than there are; go test ./ci/docs -rewrite", failpoints)
	}
}

func listOfSites() string {
	var b strings.Builder
	role := failpoint.Role("")
	for _, site := range failpoint.All() {
		if site.Role != role {
			role = site.Role
			fmt.Fprintf(&b, "\n**%s**\n\n", role)
		}
		b.WriteString(wrapped(fmt.Sprintf("- `%s`: %s", site.Name, site.Risk), "  "))
	}
	return b.String() + "\n"
}
