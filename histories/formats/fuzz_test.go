package formats_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/formats"
)

// seeds are one text of each form.
var seeds = []string{
	own,
	jepsenLog,
	`{:process 0, :type :invoke, :f :append, :key "0", :value "hello"}` + "\n" +
		`{:process 0, :type :ok, :f :append, :key "0", :value "hello"}` + "\n" +
		`{:process 0, :type :invoke, :f :get, :key "0", :value nil}` + "\n" +
		`{:process 0, :type :ok, :f :get, :key "0", :value "hello"}` + "\n",
	"{:process 0, :type :invoke, :f :cas, :value [1 [2 3]]}\n" +
		"{:process 0, :type :fail, :f :cas, :value [1 [2 3]]}\n",
	"[{:process 0, :type :invoke, :f :add, :value 5} {:process 0, :type :ok, :f :add, :value 5} " +
		"{:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value #{5 6}}]",
	"{:process 0, :type :invoke, :f :txn, :value [[:append 1 2]]}\n" +
		"{:process 0, :type :ok, :f :txn, :value [[:append 1 2]]}\n",
	`[{"ClientId":0,"Input":{"Op":1,"Key":"x","Value":"a"},"Call":0,"Output":{"Value":""},"Return":5}]`,
	strings.Replace(own, `"write"`, `"scan","to":5`, 1),
}

// FuzzCheck reads arbitrary input in every format, and judges what is a history: nothing panics, no
// search exceeds its limits, and every refusal has a reason.
func FuzzCheck(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "history")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		ops, err := formats.Read(path, formats.Limits{Bytes: 1 << 20})
		if err != nil {
			var refused *histories.FileError
			if !errors.As(err, &refused) && !strings.HasPrefix(err.Error(), path+": ") {
				t.Fatalf("refused without a place: %v", err)
			}
			return
		}
		verdicts := checkers.Check(ops, checkers.Limits{Search: 20 * time.Millisecond, Acts: 200})
		for _, v := range verdicts {
			if v.Outcome == checkers.Fail && len(v.Violations) == 0 ||
				v.Outcome == checkers.Undecided && len(v.Undecided) == 0 {
				t.Fatalf("%s is %s without a reason", v.Checker, v.Outcome)
			}
		}
	})
}
