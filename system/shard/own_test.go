package shard

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// TestNobodyWritesWhatIsOwn: not even where a database of that name came into being in the past.
func TestNobodyWritesWhatIsOwn(t *testing.T) {
	w, s := alone(t)
	unsharded := command.Placement{Database: true}
	doc := must(bson.Marshal(bson.D{{Key: "_id", Value: "a session"}}))
	for _, ns := range []string{SessionsNS, SectionsNS, VersionNS} {
		act(t, w, s, func(t env.Task) error {
			req := &command.Insert{
				NS: ns, Docs: []bson.Raw{doc}, Implicit: true, Place: unsharded,
			}
			if _, err := s.insert(t, "", req); !errcode.Is(err, errcode.BadValue) {
				return errcode.New(errcode.Internal, "an insert into %s: %v", ns, err)
			}
			drop := &command.DropUnsharded{NS: ns, Place: unsharded}
			if _, err := s.dropUnsharded(t, "", drop); !errcode.Is(err, errcode.BadValue) {
				return errcode.New(errcode.Internal, "a drop of %s: %v", ns, err)
			}
			return nil
		})
	}
}
