package histories

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fill sets every field to something that is left out by none; streams are not read in place.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(12)
	case reflect.Uint64:
		v.SetUint(1234567890)
	case reflect.String:
		v.SetString("w12")
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	}
}

// TestAsWritten: what is written is read in place, with every field and with each one left out.
func TestAsWritten(t *testing.T) {
	all := reflect.TypeFor[Op]()
	for without := -1; without < all.NumField(); without++ {
		var op, got Op
		fill(reflect.ValueOf(&op).Elem())
		name := "none"
		if without >= 0 {
			name = all.Field(without).Name
			reflect.ValueOf(&op).Elem().Field(without).SetZero()
		}
		line, err := json.Marshal(&op)
		if err != nil {
			t.Fatal(err)
		}
		if !new(opDecoder).asWritten(append(line, '\n'), &got) {
			t.Errorf("without %s it is not read in place: %s", name, line)
		} else if diff := cmp.Diff(op, got); diff != "" {
			t.Errorf("without %s (-) it is read as (+):\n%s", name, diff)
		}
	}
}

// TestLongTexts: texts of eight bytes and more that come in turn are made once.
func TestLongTexts(t *testing.T) {
	d := new(opDecoder)
	allocated := testing.AllocsPerRun(100, func() {
		for _, line := range []string{`"majority"`, `"snapshot"`, `"w1234567"`, `"w12345678"`} {
			d.line, d.failed = []byte(line), false
			if got, _ := d.text(0); `"`+got+`"` != line {
				t.Fatalf("%s is read as %q", line, got)
			}
		}
	})
	if allocated > 4 { // the lines
		t.Errorf("%v allocations for four texts", allocated)
	}
}
