package key

import (
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/errcode"
)

// Decode returns the value of a key: whole numbers that fit are int64, other numbers double. Bytes
// that are no key, or more than one, are an errcode.BadValue.
func Decode(k Key) (bson.RawValue, error) {
	v, rest, err := decodeValue(k)
	if err == nil && rest != "" {
		err = brokenKeyError(k)
	}
	return v, err
}

func brokenKeyError(k Key) error { return errcode.New(errcode.BadValue, "%x is no key", string(k)) }

// payloadSize is the number of bytes that follow the tag.
var payloadSize = map[byte]int{
	tagMin:       0,
	tagNull:      0,
	tagNaN:       0,
	tagNegative:  numberSize - 1,
	tagZero:      0,
	tagPositive:  numberSize - 1,
	tagObjectID:  12,
	tagBool:      1,
	tagDate:      8,
	tagTimestamp: 8,
	tagMax:       0,
}

func decodeValue(k Key) (v bson.RawValue, rest Key, err error) {
	if k == "" {
		return v, "", brokenKeyError(k)
	}
	tag, body := k[0], string(k[1:])
	switch tag {
	case tagString:
		return decodeText(k)
	case tagBinary:
		return decodeBinary(k)
	}
	n, known := payloadSize[tag]
	if !known || len(body) < n {
		return v, "", brokenKeyError(k)
	}
	return toRawValue(decodeFixed(tag, body[:n])), Key(body[n:]), nil
}

func toRawValue(v bsoncore.Value) bson.RawValue {
	return bson.RawValue{Type: bson.Type(v.Type), Value: v.Data}
}

func toValue(t bsoncore.Type, data []byte) bsoncore.Value {
	return bsoncore.Value{Type: t, Data: data}
}

func decodeFixed(tag byte, body string) bsoncore.Value {
	switch tag {
	case tagMin:
		return toValue(bsoncore.TypeMinKey, nil)
	case tagMax:
		return toValue(bsoncore.TypeMaxKey, nil)
	case tagNull:
		return toValue(bsoncore.TypeNull, nil)
	case tagNaN:
		return toValue(bsoncore.TypeDouble, binary.LittleEndian.AppendUint64(nil, 0x7ff8<<48))
	case tagZero:
		return toValue(bsoncore.TypeInt64, bsoncore.AppendInt64(nil, 0))
	case tagNegative, tagPositive:
		return decodeNumber(tag == tagNegative, body)
	case tagDate:
		return toValue(bsoncore.TypeDateTime,
			bsoncore.AppendInt64(nil, int64(bigEndian(body)^1<<63)))
	case tagTimestamp:
		return toValue(bsoncore.TypeTimestamp,
			binary.LittleEndian.AppendUint64(nil, bigEndian(body)))
	case tagBool:
		return toValue(bsoncore.TypeBoolean, []byte(body))
	}
	return toValue(bsoncore.TypeObjectID, []byte(body))
}

func bigEndian(s string) uint64 { return binary.BigEndian.Uint64([]byte(s)) }

func decodeNumber(negative bool, body string) bsoncore.Value {
	exponent, mantissa := splitNumber(negative, body)
	if n, ok := asInt64(negative, exponent, mantissa); ok {
		return toValue(bsoncore.TypeInt64, bsoncore.AppendInt64(nil, n))
	}
	return toValue(bsoncore.TypeDouble,
		binary.LittleEndian.AppendUint64(nil, doubleBits(negative, exponent, mantissa)))
}

func decodeBinary(k Key) (v bson.RawValue, rest Key, err error) {
	const head = 1 + 4 + 1
	if len(k) < head {
		return v, "", brokenKeyError(k)
	}
	n := int(binary.BigEndian.Uint32([]byte(k[1:5])))
	if len(k)-head < n {
		return v, "", brokenKeyError(k)
	}
	data := bsoncore.AppendBinary(nil, k[5], []byte(k[head:head+n]))
	return toRawValue(toValue(bsoncore.TypeBinary, data)), k[head+n:], nil
}

// A text ends with a zero byte; inside it the bytes 0 and 1 are written as 1 1 and 1 2, which keeps
// their order.
const (
	textEnd    = 0
	textEscape = 1
)

func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c <= textEscape {
			dst = append(dst, textEscape, c+1)
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, textEnd)
}

func decodeText(k Key) (v bson.RawValue, rest Key, err error) {
	end := strings.IndexByte(string(k), textEnd)
	if end < 0 {
		return v, "", brokenKeyError(k)
	}
	text := make([]byte, 0, end)
	for i := 1; i < end; i++ {
		c := k[i]
		if c == textEscape {
			if i++; i == end || k[i] > 2 {
				return v, "", brokenKeyError(k)
			}
			c = k[i] - 1
		}
		text = append(text, c)
	}
	return toRawValue(toValue(bsoncore.TypeString, bsoncore.AppendString(nil, string(text)))),
		k[end+1:], nil
}
