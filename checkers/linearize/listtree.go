package linearize

// listTree has a node for each list that somebody read, and for each of the prefixes of one: those
// are the lists that matter. All others are one, deadList, since no read can ever tell them apart.
type listTree struct {
	next map[listStep]int32
	// read is the node of each of Key.Lists.
	read []int32
}

// listStep is a node and what is pushed to it.
type listStep struct {
	node int32
	id   ID
}

// The nodes that every tree has.
const (
	emptyList int32 = 0
	deadList  int32 = -1
)

func newListTree(lists [][]ID) *listTree {
	t := &listTree{next: map[listStep]int32{}, read: make([]int32, len(lists))}
	for i, list := range lists {
		node := emptyList
		for _, id := range list {
			step := listStep{node, id}
			if _, known := t.next[step]; !known {
				t.next[step] = int32(len(t.next) + 1)
			}
			node = t.next[step]
		}
		t.read[i] = node
	}
	return t
}

// push is the list with one more identity.
func (t *listTree) push(node int32, id ID) int32 {
	if next, known := t.next[listStep{node, id}]; known && node != deadList {
		return next
	}
	return deadList
}
