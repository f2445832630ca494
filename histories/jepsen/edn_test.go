package jepsen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/jepsen"
)

// done is an operation that a client began and that ended so.
func done(process, f, asked, kind, answered string) string {
	return "{:process " + process + ", :type :invoke, :f :" + f + ", :value " + asked +
		", :index 0}\n{:process " + process + ", :type :" + kind + ", :f :" + f + ", :value " +
		answered + ", :time 12}\n"
}

// What the histories of other tools mean to the checkers: each is right as it is, and wrong when
// one answer is another.
func TestForms(t *testing.T) {
	const nemesis = "{:process :nemesis, :type :info, :f :start, :value nil}\n"
	for name, c := range map[string]struct{ right, wrong string }{
		"register": {
			nemesis + done("0", "write", "3", "ok", "3") + done("1", "read", "nil", "ok", "3"),
			done("0", "write", "3", "ok", "3") + done("1", "read", "nil", "ok", "nil"),
		},
		"independent registers": {
			done("0", "write", "[7 3]", "ok", "[7 3]") +
				done("1", "read", "[7 nil]", "ok", "[7 3]") +
				done("1", "read", "[8 nil]", "ok", "[8 nil]"),
			done("0", "write", "[7 3]", "ok", "[7 3]") +
				done("1", "read", "[7 nil]", "ok", "[7 nil]"),
		},
		"compare-and-set": {
			done("0", "write", "1", "ok", "1") + done("0", "cas", "[1 2]", "ok", "[1 2]") +
				done("0", "cas", "[1 3]", "fail", "[1 3]") + done("1", "read", "nil", "ok", "2"),
			done("0", "write", "1", "ok", "1") + done("0", "cas", "[5 2]", "ok", "[5 2]"),
		},
		"set": {
			done("0", "add", "4", "ok", "4") + done("0", "add", "9", "info", "9") +
				done("1", "read", "nil", "ok", "#{4}"),
			done("0", "add", "4", "ok", "4") + done("1", "read", "nil", "ok", "#{}"),
		},
		"set as a vector": {
			"[" + done("0", "add", "4", "ok", "4") + done("1", "read", "nil", "ok", "[4]") + "]",
			"[" + done("0", "add", "4", "ok", "4") + done("1", "read", "nil", "ok", "[4 5]") + "]",
		},
		"append": {
			done("0", "txn", "[[:append 1 5]]", "ok", "[[:append 1 5]]") +
				done("0", "txn", "[[:append 1 6]]", "ok", "[[:append 1 6]]") +
				done("1", "txn", "[[:r 1 nil]]", "ok", "[[:r 1 [5 6]]]"),
			done("0", "txn", "[[:append 1 5]]", "ok", "[[:append 1 5]]") +
				done("0", "txn", "[[:append 1 6]]", "ok", "[[:append 1 6]]") +
				done("1", "txn", "[[:r 1 nil]]", "ok", "[[:r 1 [6 5]]]"),
		},
		"written registers": {
			done("0", "txn", "[[:w 1 5]]", "ok", "[[:w 1 5]]") +
				done("0", "txn", "[[:w 2 6]]", "ok", "[[:w 2 6]]") +
				done("1", "txn", "[[:r 1 nil]]", "ok", "[[:r 1 5]]") +
				done("1", "txn", "[[:r 3 nil]]", "ok", "[[:r 3 nil]]"),
			done("0", "txn", "[[:w 1 5]]", "ok", "[[:w 1 5]]") +
				done("0", "txn", "[[:w 2 6]]", "ok", "[[:w 2 6]]") +
				done("1", "txn", "[[:r 1 nil]]", "ok", "[[:r 1 6]]"),
		},
		"written registers, whose names are keywords": {
			done("0", "txn", "[[:w :x 5]]", "info", "[[:w :x 5]]") +
				done("1", "txn", "[[:r :x nil]]", "ok", "[[:r :x 5]]"),
			done("0", "txn", "[[:w :x 5]]", "fail", "[[:w :x 5]]") +
				done("1", "txn", "[[:r :x nil]]", "ok", "[[:r :x 5]]"),
		},
		"tagged": {
			"#jepsen.history.Op" + done("0", "write", "3", "ok", "3"),
			"#jepsen.history.Op" + done("1", "read", "nil", "ok", "3"),
		},
		"key-value words": {
			`{:process 0, :type :invoke, :f :append, :key "1", :value "hello"}` + "\n" +
				`{:process 0, :type :ok, :f :append, :key "1", :value "hello"}` + "\n" +
				`{:process 0, :type :invoke, :f :append, :key "1", :value "there"}` + "\n" +
				`{:process 0, :type :ok, :f :append, :key "1", :value "there"}` + "\n" +
				`{:process 0, :type :invoke, :f :get, :key "1", :value nil}` + "\n" +
				`{:process 0, :type :ok, :f :get, :key "1", :value "hellothere"}` + "\n",
			`{:process 0, :type :invoke, :f :append, :key "1", :value "hello"}` + "\n" +
				`{:process 0, :type :ok, :f :append, :key "1", :value "hello"}` + "\n" +
				`{:process 0, :type :invoke, :f :get, :key "1", :value nil}` + "\n" +
				`{:process 0, :type :ok, :f :get, :key "1", :value "hellothere"}` + "\n",
		},
		"porcupine": {
			`[{"ClientId":0,"Input":{"Op":1,"Key":"x","Value":"a"},"Call":0,"Output":{},"Return":5},` +
				`{"ClientId":1,"Input":{"Op":"get","Key":"x"},"Call":6,"Output":{"Value":"a"},"Return":9}]`,
			`[{"ClientId":0,"Input":{"Op":1,"Key":"x","Value":"a"},"Call":0,"Output":{},"Return":5},` +
				`{"ClientId":1,"Input":{"Op":"get","Key":"x"},"Call":6,"Output":{"Value":""},"Return":9}]`,
		},
	} {
		for text, want := range map[string]checkers.Outcome{
			c.right: checkers.Pass, c.wrong: checkers.Fail,
		} {
			read := jepsen.Recognise([]byte(text))
			if read == nil {
				t.Errorf("%s: not recognised: %s", name, text)
				continue
			}
			ops, err := read("h", strings.NewReader(text))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			worst := checkers.Worst(checkers.Check(ops, checkers.Limits{}))
			if worst.Outcome != want {
				t.Errorf("%s: %s, want %s: %+v\n%s", name, worst.Outcome, want,
					worst.Violations, text)
			}
		}
	}
}

// What cannot be judged is refused by its name.
func TestFormsRefused(t *testing.T) {
	for text, want := range map[string]string{
		done("0", "transfer", "{:from 0, :to 1, :amount 5}", "ok", "nil"): `the workload "bank"`,
		done("0", "read", "nil", "ok", "{0 10, 1 10}"):                    `the workload "bank"`,
		done("0", "txn", "[[:r 1 nil] [:append 2 3]]", "ok", "nil"):       "a transaction of 2 steps",
		done("0", "enqueue", "5", "ok", "5"):                              `the workload "queue"`,
		done("0", "frobnicate", "5", "ok", "5"):                           "the function :f :frobnicate is unknown",
		"{:process 0, :type :invoke":                                      "is no EDN",
		"{:process 0, :type :ok, :f :read, :value 5}":                     "ends an operation that it has not started",
		"{:process :nemesis, :type :info, :f :start}":                     "no operation of a client",
		`[{"ClientId":0,"Input":{"Op":7},"Call":1,"Return":2}]`:           "the operation 7 is unknown",
		`[{"ClientId":0,"Input":{"Op":0},"Call":3,"Return":2}]`:           "returns at 2, before it was called",
		`[{"ClientId":0,"Inputs":{}}]`:                                    "no list of porcupine's operations",
	} {
		read := jepsen.Recognise([]byte(text))
		if read == nil {
			t.Errorf("not recognised: %s", text)
			continue
		}
		_, err := read("h", strings.NewReader(text))
		var refused *histories.FileError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
