package histories_test

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
)

// readLine reads one line as the only record of a file.
func readLine(line string) (*histories.Op, error) {
	r, err := histories.NewReader[histories.Op]("h", strings.NewReader(head+line+"\n"))
	if err != nil {
		return nil, err
	}
	op := new(histories.Op)
	return op, r.Read(op)
}

// strictly reads a line with encoding/json, and refuses unknown fields and what follows.
func strictly(line string, op *histories.Op) error {
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(op); err != nil {
		return err
	}
	if strings.TrimSpace(line[d.InputOffset():]) != "" {
		return errors.New("something follows")
	}
	return nil
}

// compare holds a line to encoding/json, which is the definition of the format.
func compare(t interface{ Fatalf(string, ...any) }, line string) {
	var want histories.Op
	wrong := strictly(line, &want)
	got, err := readLine(line)
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%s: encoding/json says %v, the reader %v", line, wrong, err)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Fatalf("%s: encoding/json (-) and the reader (+):\n%s", line, diff)
	}
}

// Lines as they are written are read as encoding/json reads them, and so are lines of which a piece
// was cut out, doubled or replaced.
func TestLinesAreReadAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		op := rapid.Make[histories.Op]().Draw(rt, "op")
		if rapid.IntRange(0, 9).Draw(rt, "stream") > 0 {
			op.Stream = nil
		}
		makeText(&op)
		b, err := json.Marshal(&op)
		if err != nil {
			rt.Fatal(err)
		}
		compare(rt, string(b))
		from := rapid.IntRange(0, len(b)-1).Draw(rt, "from")
		to := rapid.IntRange(from, min(from+12, len(b))).Draw(rt, "to")
		piece := rapid.SampledFrom([]string{
			"", ",", "0", "-", "00", "true", "null", `"`, `\u0041`, "{", "}", "[", "]", " ", "1e2",
			string(b[from:to]) + string(b[from:to]), strings.ToUpper(string(b[from:to])),
		}).Draw(rt, "piece")
		changed := string(slices.Concat(b[:from], []byte(piece), b[to:]))
		if !strings.ContainsAny(changed, "\n") && !strings.HasPrefix(changed, `{"end":`) {
			compare(rt, changed)
		}
	})
}

// Lines on which a reader of its own is easily wrong.
func TestPeculiarLines(t *testing.T) {
	for _, line := range []string{
		`{}`, `{"id":1}`, `{"id":-0}`, `{"id":01}`, `{"id":-}`, `{"id":1.0}`, `{"id":1,}`,
		`{"id":1"client":2}`, `{,"id":1}`, `{"client":1,"id":2}`, `{"id":1,"id":2}`, `{"ID":7}`,
		`{"id":9223372036854775807}`, `{"id":9223372036854775808}`, `{"id":-9223372036854775808}`,
		`{"call":18446744073709551615}`, `{"call":-1}`, `{"call":123456789012345678}`,
		`{"id":1,"causal":false}`, `{"id":1,"causal":tru}`, `{"ns":null}`, `{"ns":"a\"b"}`,
		`{"ns":"a\tb"}`, "{\"ns\":\"a\tb\"}", `{"ns":"ü"}`, "{\"ns\":\"\xff\"}", `{"ns":"a}`,
		`{"result":{}}`, `{"result":null}`, `{"result":{"list":[]}}`, `{"result":{"list":null}}`,
		`{"result":{"list":["a",]}}`, `{"result":{"list":["a" "b"]}}`, `{"result":{"list":[,]}}`,
		`{"result":{"items":[]}}`, `{"result":{"items":[{}]}}`, `{"result":{"items":[{},]}}`,
		`{"result":{"items":[{"key":1}{"key":2}]}}`, `{"result":{"items":[{"key":1},{"key":2}]}}`,
		`{"result":{"found":true}`, `{"id":1}}`, `{"id":1} `, ` {"id":1}`, `[]`, ``, `null`,
		`{"id":1,"unknown":2}`, `{"id":1,"kind":"read","kind":"insert"}`,
		`{ "id" : 1, "client" : 2 }`, `{"id": 1,	"ns": "a"}`, `{"return":2,"call":1,"since":7}`,
		`{"result":{"value":"a","found":true},"id":1}`, `{"result":{"n":1,"n":2}}`,
		`{"result":{},"result":{}}`,
		`{"result":{"items":[{"return":1,"key":1},{"key":1,"key":2}]}}`,
		`{"id" 1}`, `{id:1}`, `{"id":1 "ns":"a"}`, `{"causal": false }`, `{"id":1, }`, `{"":1}`,
	} {
		compare(t, line)
	}
}

// Lines that stand as they are written, up to their result.
func TestPeculiarResults(t *testing.T) {
	const (
		before = `{"id":1,"client":-1,"ns":"t.c","kind":"read","key":3,"call":1,"return":2,` +
			`"callAt":3,"returnAt":4,"outcome":"ok","result":`
		times = `,"after":12,"time":1234567890,"exact":true,"since":3,"lossy":true}`
	)
	for _, rest := range []string{
		`{}}`, `{}} `, `{},}`, `{}`, `{,}}`, `{"found":true,}}`, `{"found":true "n":1}}`,
		`{"n":1,"n":2}}`, `{"applied":true,"found":false}}`, `{ "list" : [] , "n":1}}`,
		`{"value":"a"}}`, `{"value":"ab\u0063"}}`, `{"value":"abcdefg"}}`, `{"value":"abcdefgh"}}`,
		`{"value":"abcdefghijklmnopq"}}`, `{"value":"abcdefgä"}}`, `{"value":"abcdefgh`,
		`{"value":"abc`, `{"value":"abcdefghi\\"}}`, `{"n":12345678}}`, `{"n":123456789}}`,
		`{"n":1234567x}}`, `{"n":00000001}}`, `{"n":0000000012}}`, `{"n":123456789012345678}}`,
		`{"n":1234567890123456789}}`, `{}` + times, `{"found":true}` + times[:9], `{}` + times + `}`,
		`{},"time":1,"after":2}`, `{},"exact":false}`, `{},"stream":null}`,
		`{},"exact":true,"exact":true}`, `{},"exact":true,"time":7}`,
	} {
		compare(t, before+rest)
	}
}

// Lines longer than any buffer are read, too, and the estimate of how many there are is no limit.
func TestManyAndLongLines(t *testing.T) {
	var want []histories.Op
	for i := range 20_000 {
		op := histories.Op{ID: i, Outcome: histories.OK}
		if i%4096 == 7 {
			op.Value = strings.Repeat("x", 200_000)
		}
		want = append(want, op)
	}
	packed := written(t, histories.Header{}, want)
	for _, size := range []int64{0, 1, int64(len(packed)), 1 << 20} {
		in := io.Reader(strings.NewReader(string(packed)))
		_, got, err := histories.ReadSized[histories.Op]("h", in, histories.Extent{Size: size})
		if err != nil || !slices.EqualFunc(want, got, func(a, b histories.Op) bool {
			return a.ID == b.ID && a.Value == b.Value
		}) {
			t.Fatalf("of %d bytes: %d records, %v", size, len(got), err)
		}
	}
}
