package client_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// reply is what a router answers to one attempt: an error, or a result.
type reply struct {
	code    errcode.Code
	written command.Written
}

func fails(code errcode.Code) reply { return reply{code: code} }
func writes(n int) reply            { return reply{written: command.Written{N: n}} }
func unconcerned() reply {
	return reply{written: command.Written{N: 1, ConcernError: "only one member has it"}}
}

func TestWhatIsKnownOfAWrite(t *testing.T) {
	const (
		lost    = errcode.NetworkTimeout
		stepped = errcode.PrimarySteppedDown
		refused = errcode.DuplicateKey
	)
	for _, tc := range []struct {
		name    string
		replies []reply
		want    client.Certainty
		retries int
	}{
		{"done at once", []reply{writes(1)}, client.OK, 0},
		{"nothing to do", []reply{writes(0)}, client.OK, 0},
		{"refused at once", []reply{fails(refused)}, client.Failed, 0},
		{"bad value", []reply{fails(errcode.BadValue)}, client.Failed, 0},
		{"the router's tables stay stale", []reply{fails(errcode.StaleConfig)}, client.Failed, 0},
		{
			"no primary, then done", []reply{fails(errcode.NotWritablePrimary), writes(1)},
			client.OK, 1,
		},
		{
			"no primary, then refused", []reply{fails(errcode.NotWritablePrimary), fails(refused)},
			client.Failed, 1,
		},
		{"lost, then the record", []reply{fails(lost), writes(1)}, client.OK, 1},
		{"lost, then nothing to do", []reply{fails(lost), writes(0)}, client.Unknown, 1},
		{"lost, then refused", []reply{fails(lost), fails(refused)}, client.Unknown, 1},
		{"stepped down, then nothing to do", []reply{fails(stepped), writes(0)}, client.OK, 1},
		{"stepped down, then refused", []reply{fails(stepped), fails(refused)}, client.Unknown, 1},
		{"write concern not satisfied", []reply{unconcerned()}, client.Unknown, 0},
		{
			"an error of no known moment", []reply{fails(errcode.FailPointEnabled)},
			client.Unknown, 0,
		},
		{
			"history is gone", []reply{fails(errcode.IncompleteTransactionHistory)},
			client.Unknown, 0,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, sessions := write(t, tc.replies)
			if a.Certainty != tc.want || a.Retries != tc.retries {
				t.Errorf("got %v after %d retries (%v), want %v after %d",
					a.Certainty, a.Retries, a.Err, tc.want, tc.retries)
			}
			if (a.Err == nil) != (a.Certainty == client.OK) {
				t.Errorf("certainty %v with error %v", a.Certainty, a.Err)
			}
			for _, s := range sessions {
				if s != (command.Session{ID: "client.0/1", Txn: 1}) {
					t.Errorf("an attempt is statement %+v", s)
				}
			}
		})
	}
}

// TestBatch: what is retried of a batch is all of it, but for what has left no record, now and then
// without a failure; and the next write that does not join is a batch of its own.
func TestBatch(t *testing.T) {
	lost := fails(errcode.NetworkTimeout)
	sessions := answering(t, settings.Default80(), []reply{
		writes(1), writes(0), writes(1), writes(1), // statements 0 and 1; 0 once more; 2
		lost, writes(1), writes(1), writes(1), // 3; then 0 and 2 once more, and 3
		lost, writes(1), // of the next
	}, func(task env.Task, c *client.Client) {
		for _, joins := range []bool{true, true, true, true, false} {
			if joins {
				c.Join()
			}
			if a := c.Insert(task, insertion(t)); a.Certainty != client.OK {
				t.Errorf("a write is %v: %v", a.Certainty, a.Err)
			}
		}
	})
	var sent []string
	for _, s := range sessions {
		sent = append(sent, fmt.Sprintf("%d.%d", s.Txn, s.Stmt))
	}
	if got, want := strings.Join(sent, " "), "1.0 1.1 1.0 1.2 1.3 1.0 1.2 1.3 2.0 2.0"; got != want {
		t.Errorf("transactions and statements sent: %s, want %s", got, want)
	}
}

// TestInsertMany: what is known of each document of an insert up to the one that is refused. Y is
// inserted, n refused or not tried, and ? may be either.
func TestInsertMany(t *testing.T) {
	stops := func(n int) reply {
		return reply{written: command.Written{N: n, Refused: errcode.DuplicateKey, Why: "there is one"}}
	}
	lost := fails(errcode.NetworkTimeout)
	for name, tc := range map[string]struct {
		replies []reply
		want    string
	}{
		"all":                    {[]reply{writes(3)}, "YYY"},
		"the first is refused":   {[]reply{stops(0)}, "nnn"},
		"the second is refused":  {[]reply{stops(1)}, "Ynn"},
		"lost, then all":         {[]reply{lost, writes(3)}, "YYY"},
		"lost, then one refused": {[]reply{lost, stops(1)}, "Y??"},
		"fails, some perhaps in": {[]reply{fails(errcode.StaleConfig)}, "???"},
		"write concern":          {[]reply{unconcerned()}, "???"},
	} {
		var known string
		sessions := answering(t, settings.Default80(), append(tc.replies, writes(1)),
			func(task env.Task, c *client.Client) {
				op := insertion(t)
				op.Docs = append(op.Docs, op.Docs[0], op.Docs[0])
				for _, a := range c.InsertMany(task, op) {
					known += map[client.Certainty]string{
						client.OK: "Y", client.Failed: "n", client.Unknown: "?",
					}[a.Certainty]
					if a.Certainty == client.OK && a.Written.N != 1 {
						t.Errorf("%s: a document was inserted %d times", name, a.Written.N)
					}
				}
				c.Join()
				c.Insert(task, insertion(t))
			})
		if known != tc.want {
			t.Errorf("%s: known is %s, want %s", name, known, tc.want)
		}
		if next := sessions[len(tc.replies)]; next.Txn == 1 && next.Stmt != 0 && next.Stmt != 3 {
			t.Errorf("%s: the next statement of the batch is %d", name, next.Stmt)
		}
	}
}

// A write without a session is sent once, whatever the answer is.
func TestWritesThatAreNotRetryable(t *testing.T) {
	s := settings.Default80()
	s.RetryWrites = 0
	for code, want := range map[errcode.Code]client.Certainty{
		"": client.OK, errcode.NotWritablePrimary: client.Failed,
		errcode.PrimarySteppedDown: client.Unknown, errcode.NetworkTimeout: client.Unknown,
	} {
		planned := writes(1)
		planned.code = code
		a, sessions := writeBy(t, s, []reply{planned})
		if a.Certainty != want || a.Retries > 0 || len(sessions) != 1 || sessions[0].ID != "" {
			t.Errorf("after %q: got %v after %d retries, sent by %v", code, a.Certainty, a.Retries,
				sessions)
		}
	}
}

func write(t *testing.T, replies []reply) (a client.Answer, sessions []command.Session) {
	return writeBy(t, settings.Default80(), replies)
}

// writeBy has a client insert a document through routers that answer in turn as told.
func writeBy(
	t *testing.T, s settings.Settings, replies []reply,
) (a client.Answer, sessions []command.Session) {
	sessions = answering(t, s, replies, func(task env.Task, c *client.Client) {
		a = c.Insert(task, insertion(t))
	})
	return a, sessions
}

func insertion(t *testing.T) command.Insert {
	return command.Insert{NS: "test.docs", Docs: []bson.Raw{document(t)}}
}

// answering has a client do something, and returns the statements that reach the routers.
func answering(
	t *testing.T, s settings.Settings, replies []reply, do func(env.Task, *client.Client),
) (sessions []command.Session) {
	t.Helper()
	w := sim.New(sim.Options{Seed: 1, Codec: codec.BSON})
	defer w.Close()
	for _, id := range []env.NodeID{"router.0", "router.1"} {
		w.AddNode(id, func(t env.Task) {
			serve(rpc.Listen(t.Node(), hlc.New(t.Node())),
				func(of command.Session) (*command.Written, error) {
					sessions = append(sessions, of)
					next := replies[0]
					replies = replies[1:]
					if next.code != "" {
						return nil, errcode.New(next.code, "as planned")
					}
					return &next.written, nil
				})
		})
	}
	w.AddNode("client.0", func(task env.Task) {
		c := client.New(rpc.Listen(task.Node(), hlc.New(task.Node())),
			[]env.NodeID{"router.0", "router.1"}, &s)
		if task.Sleep(10*time.Millisecond) == nil {
			do(task, c)
		}
	})
	w.Run(nil, env.Time(time.Minute))
	if err := w.Err(); err != nil || len(replies) > 0 {
		t.Fatalf("%v; replies left: %v", err, replies)
	}
	return sessions
}

// serve has a router answer writes to documents by their statement.
func serve(ep *rpc.Endpoint, answer func(command.Session) (*command.Written, error)) {
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, r *command.Insert) (*command.Written, error) {
		return answer(r.Session)
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, r *command.Update) (*command.Written, error) {
		return answer(r.Session)
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, r *command.Delete) (*command.Written, error) {
		return answer(r.Session)
	})
	rpc.Handle(ep, func(
		_ env.Task, _ env.NodeID, r *command.FindAndModify,
	) (*command.Written, error) {
		return answer(r.Session)
	})
}

func TestClientGivesUpInTime(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	s := settings.Default80()
	var write, read client.Answer
	var took [2]time.Duration
	w.AddNode("router.0", func(env.Task) {})
	w.AddNode("client.0", func(task env.Task) {
		c := client.New(rpc.Listen(task.Node(), hlc.New(task.Node())), []env.NodeID{"router.0"}, &s)
		began := task.Node().Mono()
		write = c.Insert(task, command.Insert{NS: "test.docs", Docs: []bson.Raw{document(t)}})
		took[0] = task.Node().Mono().Sub(began)
		read = c.Find(task, command.Find{NS: "test.docs"})
		took[1] = task.Node().Mono().Sub(began) - took[0]
	})
	w.Run(nil, env.Time(5*time.Minute))
	if write.Certainty != client.Unknown || read.Certainty != client.Failed || write.Err == nil ||
		read.Err == nil {
		t.Errorf("without a router the write is %+v and the read %+v", write, read)
	}
	for _, d := range took {
		if d < s.ClientDeadline-time.Second || d > s.ClientDeadline {
			t.Errorf("gave up after %v, with a deadline of %v", d, s.ClientDeadline)
		}
	}
}

// TestUnshardedCollectionsAreDurable: what a client is told of an unsharded collection holds
// whichever member leads next.
func TestUnshardedCollectionsAreDurable(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1, Codec: codec.BSON})
	defer w.Close()
	s := settings.Default80()
	heard, implicit := map[string]command.WriteConcern{}, map[string]bool{}
	w.AddNode("router.0", func(t env.Task) {
		ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
		hear := func(what string, wc command.WriteConcern) (*command.Written, error) {
			heard[what] = wc
			return &command.Written{N: 1}, nil
		}
		rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.CreateUnsharded) (
			*command.Written, error) {
			return hear("create", req.Concern)
		})
		rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.DropUnsharded) (
			*command.Written, error) {
			return hear("drop", req.Concern)
		})
		rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.RenameUnsharded) (
			*command.Written, error) {
			return hear("rename", req.Concern)
		})
		rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.IndexUnsharded) (
			*command.Written, error) {
			implicit[req.Name] = req.Implicit
			return hear("index", req.Concern)
		})
	})
	w.AddNode("client.0", func(task env.Task) {
		c := client.New(rpc.Listen(task.Node(), hlc.New(task.Node())), []env.NodeID{"router.0"}, &s)
		c.CreateUnsharded(task, "test.docs", nil)
		c.IndexUnsharded(task, "test.docs", "v_1", document(t))
		c.IndexUnsharded(task, "test.docs", "w_1", nil)
		c.RenameUnsharded(task, "test.docs", "test.other", false)
		c.DropUnsharded(task, "test.other")
	})
	w.Run(nil, env.Time(time.Minute))
	for _, what := range []string{"create", "drop", "rename", "index"} {
		if wc := heard[what]; !wc.Majority {
			t.Errorf("the request to %s waits for %+v, want a majority", what, wc)
		}
	}
	if !implicit["v_1"] || implicit["w_1"] {
		t.Errorf("to make an index makes the collection, to remove one does not: %v", implicit)
	}
}

func document(t *testing.T) bson.Raw {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(1)}, {Key: "k", Value: int64(1)}})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
