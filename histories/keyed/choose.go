package keyed

import "math/bits"

// scoreBits is how many random bits the score of a candidate comes from, fraction how many bits a
// logarithm has behind the point.
const scoreBits, fraction = 30, 16

// Choose is one of several candidates, each by its weight. Every candidate has a score of its own,
// a hash of the answer to the question and of its name, and the best one wins (weighted rendezvous
// hashing): another candidate more or less changes a choice only to it or from it, whatever the
// order of the list is. There must be one of a weight above zero; names are unique. roll answers a
// question with a number in [0,n).
func Choose[T any](
	roll func(question string, n int) int, question string, all []T,
	of func(T) (name string, weight int),
) (chosen T) {
	seed := Mix(uint64(roll(question, 1<<scoreBits)))
	var best, bestWeight uint64
	for _, candidate := range all {
		name, weight := of(candidate)
		if weight <= 0 {
			continue
		}
		// -log(u)/weight is exponentially distributed with the rate weight; the least one wins.
		random := Mix(Text(seed, name))>>(64-scoreBits) + 1
		w := uint64(weight)
		least := (scoreBits - min(scoreBits, uint64(bits.Len64(random)))) << fraction
		if bestWeight != 0 && least*bestWeight >= best*w {
			continue // whatever its logarithm, which is at most Len64
		}
		score := scoreBits<<fraction - log2(random)
		if bestWeight == 0 || score*bestWeight < best*w {
			chosen, best, bestWeight = candidate, score, w
		}
	}
	return chosen
}

// One is a value of a list, in which one that stands several times is the more likely.
func One(roll func(question string, n int) int, question string, values ...string) string {
	times := func(value string) (string, int) {
		n := 0
		for _, v := range values {
			if v == value {
				n++
			}
		}
		return value, n
	}
	return Choose(roll, question, values, times)
}

// log2 is the binary logarithm of x, which is above zero, with so many bits behind the point.
func log2(x uint64) uint64 {
	whole := uint64(bits.Len64(x)) - 1
	y := x << (63 - whole) // in [1,2) with 63 bits behind the point
	log := whole
	for range fraction {
		high, _ := bits.Mul64(y, y) // in [1,4) with 62 bits behind the point
		log <<= 1
		if high >= 1<<63 {
			log |= 1
			y = high
		} else {
			y = high << 1
		}
	}
	return log
}
