package store

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
)

// Extent is how many documents a collection has now and how many bytes they are together, without
// looking at them; zero for one that does not exist.
func (s *Store) Extent(ns string) (documents, bytes int64) {
	if c := s.at(ns, Latest); c != nil {
		return c.documents, c.bytes
	}
	return 0, 0
}

// Sizes gives the shard keys of the documents in a range as they are now and the size of each,
// upwards or downwards. The store must not change meanwhile.
func (s *Store) Sizes(ns string, rng key.Range, down bool) iter.Seq2[key.Key, int] {
	return func(yield func(key.Key, int) bool) {
		if !down {
			s.ScanKey(ns, rng, Latest, Place{}, func(k key.Key, _ string, doc bson.Raw) bool {
				return yield(k, len(doc))
			})
			return
		}
		each := func(k key.Key, doc bson.Raw) bool { return yield(k, len(doc)) }
		switch c := s.at(ns, Latest); {
		case c == nil:
		case c.pattern.IsZero():
			c.descendID(rng, each)
		default:
			c.descendKey(rng, each)
		}
	}
}
