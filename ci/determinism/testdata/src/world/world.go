// Package world breaks every rule once, so that a test sees the analyzer catch it.
package world

import (
	"fmt"
	"maps"
	"math/rand" // want `import: math/rand in simulated code`
	"slices"
	"sync" // want `import: sync in simulated code`
	"time"
)

var lock sync.Mutex

func breaks(m map[string]int, c chan int, x, y, z float64) float64 { // want `channel: a channel blocks`
	go breaks(m, c, x, y, z) // want `go: a goroutine`
	select {                 // want `select: select picks`
	case <-c: // want `channel: a channel blocks`
	default:
	}
	c <- 1             // want `channel: a channel blocks`
	for k := range m { // want `map: the order`
		fmt.Println(k)
	}
	_ = time.Now() // want `call: time.Now in simulated code: use Node.Now`
	time.Sleep(1)  // want `call: time.Sleep`
	_ = rand.Int()
	for k := range maps.Keys(m) { // want `call: maps.Keys`
		_ = k
	}
	fmt.Printf("%p", m) // want `pointer: an address`
	defer func() {
		_ = recover() // want `recover: recover can swallow`
	}()
	return x*y + z // want `float: x` `float: x`
}

func keeps(m map[string]int, d time.Duration) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for k := range m {
		delete(m, k)
	}
	total := 0
	//shardproof:allow map a sum does not depend on the order
	for _, n := range m {
		total += n
	}
	doubled := map[string]int{}
	for k, n := range m {
		doubled[k] = 2 * n
	}
	_ = d * 2
	return slices.Sorted(maps.Keys(m))
}

func excuses(m map[string]int) {
	/* want `allow: say after the rule why` */ //shardproof:allow map
	for k := range m {                         // want `map: the order`
		fmt.Println(k)
	}
}
