package query_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
)

// TestRegexOptions: an option that RE2 does not have is refused, not left out: the expression would
// select other documents. Options beside an expression are those that count.
func TestRegexOptions(t *testing.T) {
	for filter, want := range map[string]string{
		`{"x": {"$regularExpression": {"pattern": "a b", "options": "x"}}}`:                             "refused",
		`{"x": {"$regex": "a b", "$options": "x"}}`:                                                     "refused",
		`{"x": {"$regex": "a b", "$options": "q"}}`:                                                     "refused",
		`{"x": {"$regex": "A B", "$options": "i"}}`:                                                     "selects",
		`{"x": {"$regex": "A B", "$options": "iu"}}`:                                                    "selects",
		`{"x": {"$regex": "A B", "$options": ""}}`:                                                      "selects not",
		`{"x": {"$regex": {"$regularExpression": {"pattern": "A B", "options": ""}}, "$options": "i"}}`: "selects",
	} {
		ok, err := query.Match(parse(t, filter), parse(t, `{"x": "a b"}`))
		got := map[bool]string{true: "selects", false: "selects not"}[ok]
		if errcode.Is(err, errcode.BadValue) {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s %s, %v, and not %s", filter, got, err, want)
		}
	}
}
