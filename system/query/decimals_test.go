package query_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/query"
)

// TestDecimals: decimals compare with all numbers by their values, in filters, sorts and updates.
func TestDecimals(t *testing.T) {
	doc := parse(t, `{"x": {"$numberDecimal": "256"}}`)
	for filter, want := range map[string]bool{
		`{"x": {"$gt": 5}}`:                              true,
		`{"x": {"$lt": 256.5}}`:                          true,
		`{"x": {"$lt": 5}}`:                              false,
		`{"x": {"$gte": {"$numberDecimal": "256.0"}}}`:   true,
		`{"x": {"$gt": {"$numberDecimal": "256.0"}}}`:    false,
		`{"x": {"$lt": {"$numberDecimal": "Infinity"}}}`: true,
		`{"x": {"$lt": {"$numberDecimal": "NaN"}}}`:      false,
		`{"x": {"$gt": {"$numberDecimal": "NaN"}}}`:      false,
		`{"x": 256}`:                           true,
		`{"x": {"$numberDecimal": "2.56E+2"}}`: true,
		`{"x": {"$in": [1, 256.0]}}`:           true,
		`{"x": {"$gt": "a"}}`:                  false,
	} {
		if got, err := query.Match(parse(t, filter), doc); got != want || err != nil {
			t.Errorf("%s selects %v: %t, %v", filter, doc, got, err)
		}
	}
	least, err := query.Apply(parse(t, `{"$min": {"x": {"$numberDecimal": "2"}}}`), doc)
	if want := parse(t, `{"x": {"$numberDecimal": "2"}}`); !query.Same(least, want) || err != nil {
		t.Errorf("the least of 256 and 2 is %v, %v", least, err)
	}
	if query.Compare(doc.Lookup("x"), parse(t, `{"x": 1000}`).Lookup("x")) >= 0 {
		t.Error("256 sorts behind 1000")
	}
}
