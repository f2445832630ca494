package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestResumeAfterEnd: a client that resumes a stream whose collection was dropped meanwhile is told
// so, and does not have the collection made again. After the invalidate event there is nothing to
// resume: only startAfter goes on, with the next collection of the name.
func TestResumeAfterEnd(t *testing.T) {
	for _, full := range []string{"default", "updateLookup"} {
		c := simulate(t, 1)
		ask := c.conversation(c.routers[0])
		watch := func(option string, token any) bson.Raw {
			options := bson.D{{Key: "fullDocument", Value: full}}
			if option != "" {
				options = append(options, bson.E{Key: option, Value: token})
			}
			return ask(bson.D{{Key: "aggregate", Value: "plain"}, {Key: "cursor", Value: bson.D{}},
				{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: options}}}}})
		}
		// read are the changes of a stream until it has told some.
		read := func(answer bson.Raw) (all []bson.RawValue, mark bson.Raw) {
			for name := "firstBatch"; ; name = "nextBatch" {
				all, _ = answer.Lookup("cursor", name).Array().Values()
				mark, _ = answer.Lookup("cursor", "postBatchResumeToken").DocumentOK()
				if len(all) > 0 {
					return all, mark
				}
				answer = ask(bson.D{{Key: "getMore", Value: answer.Lookup("cursor", "id")},
					{Key: "collection", Value: "plain"}})
			}
		}
		opened := watch("", nil)
		c.wantOK(bson.D{{Key: "insert", Value: "plain"},
			{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}})
		inserted, _ := read(opened)
		c.wantOK(bson.D{{Key: "drop", Value: "plain"}})
		resumed := watch("resumeAfter", inserted[0].Document().Lookup("_id"))
		c.wantNames("docs")
		end, mark := read(resumed)
		if len(end) != 2 {
			t.Fatalf("%s: the resumed stream goes on with %v", full, end)
		}
		const invalidResumeToken = 260
		for _, token := range []any{end[1].Document().Lookup("_id"), mark} {
			answer := watch("resumeAfter", token)
			if code, _ := answer.Lookup("code").AsInt64OK(); code != invalidResumeToken {
				t.Errorf("%s: resumed after %v with %v", full, token, answer)
			}
			if answer = watch("startAfter", token); !isOK(answer) {
				t.Errorf("%s: started after %v with %v", full, token, answer)
			}
		}
	}
}
