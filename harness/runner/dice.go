package runner

import "math/bits"

// draws answer questions about a scenario that is being drawn: equal seed and question, equal answer, whatever else was
// asked. They are not the run's choice gate; a drawn scenario holds every answer as text.
type draws struct{ seed uint64 }

func (d draws) roll(question string, n int) int {
	h := d.seed ^ 0x9e3779b97f4a7c15
	for i := range len(question) {
		h = (h ^ uint64(question[i])) * 0x100000001b3
	}
	high, _ := bits.Mul64(scramble(scramble(h)+d.seed), uint64(n))
	return int(high)
}

// Dice answers questions with a number in [0,n): equal seed and question, equal answer.
func Dice(seed uint64) func(question string, n int) int { return draws{scramble(seed)}.roll }

func (d draws) chance(question string, percent int) bool { return d.roll(question, 100) < percent }

// scramble is the finaliser of splitmix64.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// pick chooses one of several values.
func pick[T any](d draws, question string, of ...T) T { return of[d.roll(question, len(of))] }
