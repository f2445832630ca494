package policy

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// Split is a chunk that must be split before it is clear where its parts belong.
type Split struct {
	NS     string
	Chunk  catalog.Chunk
	Points []key.Key
}

// ZoneSplits returns the collection's chunks that cross a boundary of zones, in the order of their
// keys. The cost is that of the zones, not of the table.
func ZoneSplits(c *Collection) []Split {
	if c.fixed() {
		return nil
	}
	var splits []Split
	for chunk, points := range c.Zones.Crossing(c.Table) {
		splits = append(splits, Split{c.Table.Collection().NS, chunk, points})
	}
	return splits
}

// SessionSplits returns the splits after which a collection whose keys are random UUIDs has at
// least so many chunks, of equal shares; none when it has them (protocol 13.2).
func SessionSplits(coll *Collection, chunks int) []Split {
	t := coll.Table
	if coll.fixed() || t.Len() >= chunks {
		return nil
	}
	var splits []Split
	for i := 1; i < chunks; i++ {
		point := lowestUUID(uint64(i) << 32 / uint64(chunks))
		c := t.Owner(point)
		if c.Min == point {
			continue
		}
		if last := len(splits) - 1; last >= 0 && splits[last].Chunk.Min == c.Min {
			splits[last].Points = append(splits[last].Points, point)
		} else {
			splits = append(splits, Split{t.Collection().NS, c, []key.Key{point}})
		}
	}
	return splits
}

// lowestUUID is the key of the lowest UUID that begins with these 32 bits.
func lowestUUID(top uint64) key.Key {
	const size, subtype = 16, 4
	v := binary.LittleEndian.AppendUint32(nil, size)
	v = binary.BigEndian.AppendUint32(append(v, subtype), uint32(top))
	k, err := key.Encode(bson.RawValue{
		Type:  bson.TypeBinary,
		Value: append(v, make([]byte, size-4)...),
	})
	if err != nil {
		panic("a UUID is no key: " + err.Error())
	}
	return k
}
