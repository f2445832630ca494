package crud

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/system/command"
)

// objectID is unique: made from the random ID of the session, or from the router's process and a
// counter.
func (s *Service) objectID(st command.Session) (id bson.ObjectID) {
	node := s.d.Endpoint.Node()
	seconds := uint32(s.d.Endpoint.Clock().Tick().Millis() / 1000)
	var nth uint64 // a numbered statement has the same _id again, whatever was made before
	if st.ID == "" {
		s.made++
		nth = s.made
		st = command.Session{ID: string(node.ID()), Txn: int64(node.Incarnation())}
	} else {
		seconds = uint32(st.Txn)
	}
	var hash uint64
	for _, c := range []byte(st.ID) {
		hash = keyed.Mix(hash ^ uint64(c))
	}
	hash = keyed.Mix(hash ^ uint64(st.Txn)<<20 ^ uint64(st.Stmt) ^ nth<<40)
	binary.BigEndian.PutUint32(id[:4], seconds)
	binary.BigEndian.PutUint64(id[4:], hash)
	return id
}
