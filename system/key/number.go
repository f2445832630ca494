package key

import (
	"encoding/binary"
	"math/bits"
)

// A number other than zero is written as its sign (the tag), the place of its highest bit and its
// bits from there on, all inverted for a negative one. That is exact for every int64 and every
// double, and needs no float arithmetic.
const (
	numberSize       = 1 + 2 + 8
	exponentBias     = 1 << 14
	infiniteExponent = 1024 // the exponent of infinity, one more than that of the largest double
)

func appendInt(dst []byte, n int64) []byte {
	if n == 0 {
		return append(dst, tagZero)
	}
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	shift := bits.LeadingZeros64(magnitude)
	return appendNumber(dst, n < 0, 63-shift, magnitude<<shift)
}

func appendDouble(dst []byte, ieee uint64) []byte {
	negative := ieee>>63 == 1
	exponent, fraction := int(ieee>>52&0x7ff), ieee&(1<<52-1)
	switch {
	case exponent == 0x7ff && fraction != 0:
		return append(dst, tagNaN)
	case exponent == 0 && fraction == 0:
		return append(dst, tagZero)
	case exponent == 0: // subnormal: the highest bit is not implied
		shift := bits.LeadingZeros64(fraction)
		return appendNumber(dst, negative, -1022+11-shift, fraction<<shift)
	}
	return appendNumber(dst, negative, exponent-1023, 1<<63|fraction<<11)
}

func appendNumber(dst []byte, negative bool, exponent int, mantissa uint64) []byte {
	tag, place := byte(tagPositive), uint16(exponent+exponentBias)
	if negative {
		tag, place, mantissa = tagNegative, ^place, ^mantissa
	}
	dst = binary.BigEndian.AppendUint16(append(dst, tag), place)
	return binary.BigEndian.AppendUint64(dst, mantissa)
}

// splitNumber undoes appendNumber; body is what follows the tag.
func splitNumber(negative bool, body string) (exponent int, mantissa uint64) {
	place := binary.BigEndian.Uint16([]byte(body[:2]))
	mantissa = binary.BigEndian.Uint64([]byte(body[2:10]))
	if negative {
		place, mantissa = ^place, ^mantissa
	}
	return int(place) - exponentBias, mantissa
}

// asInt64 returns the number as an int64 when it is one.
func asInt64(negative bool, exponent int, mantissa uint64) (int64, bool) {
	if exponent < 0 || exponent > 63 || mantissa<<(exponent+1) != 0 {
		return 0, false
	}
	magnitude := mantissa >> (63 - exponent)
	if negative {
		return -int64(magnitude), magnitude <= 1<<63
	}
	return int64(magnitude), magnitude < 1<<63
}

// doubleBits returns the bits of the double; the number must be one.
func doubleBits(negative bool, exponent int, mantissa uint64) uint64 {
	var b uint64
	switch {
	case exponent >= infiniteExponent:
		b = 0x7ff << 52
	case exponent >= -1022:
		b = uint64(exponent+1023)<<52 | mantissa<<1>>12
	default:
		b = mantissa >> (11 - 1022 - exponent)
	}
	if negative {
		b |= 1 << 63
	}
	return b
}
