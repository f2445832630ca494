package linearize

// document is a state of one place: its value, or Absent, and a node of the tree of lists.
type document struct {
	value ID
	list  int32
}

// documents is a state: what is in each place.
type documents [mostNames]document

// unseenValue stands for every identity that nobody can tell from another: no act has noticed it.
const unseenValue ID = -1

// specification is what the acts of one key mean to a search.
type specification struct {
	lists *listTree
	// reads says whether lists were read at all; else they say nothing.
	reads bool
	// shown are the lists as they were read, repeats whether an identity may be pushed twice.
	shown   [][]ID
	repeats bool
	// seen are the identities in the lists that the acts showed.
	seen map[ID]bool
}

func (k *Key) specification() *specification {
	return &specification{
		lists: newListTree(k.Lists), reads: k.pushes(), shown: k.Lists, repeats: k.Repeats,
	}
}

// of is the specification for some of the acts. A list only grows until it is replaced: so an
// identity that one of them saw in a list was pushed to the beginning of that list, and nowhere
// else.
func (s *specification) of(acts []KeyOp) *specification {
	some := *s
	if some.seen = map[ID]bool{}; s.repeats {
		return &some
	}
	for i := range acts {
		if a := &acts[i]; a.Shows && !a.Maybe {
			for _, id := range s.shown[a.List] {
				some.seen[id] = true
			}
		}
	}
	return &some
}

// holds says whether the act could have noticed the state, and whether what it pushes can then be
// seen by those who saw it.
func (s *specification) holds(all *documents, a *KeyOp) bool {
	d := &all[a.Place]
	if !a.holds(d.value) {
		return false
	}
	switch {
	case !s.reads:
		return true
	case a.Do == Append && s.seen[a.Put] && s.lists.push(d.list, a.Put) == deadList:
		return false
	}
	return !a.Shows || s.lists.read[a.List] == d.list
}

// apply is the state after an act that holds.
func (s *specification) apply(all documents, a *KeyOp) documents {
	d := all[a.Place]
	if a.Do == Move {
		all[a.Into], all[a.Place] = d, document{}
		return all
	}
	next := document{a.value(d.value), d.list}
	switch a.Do {
	case Set, Remove:
		next.list = emptyList
	case Append:
		next.list = s.lists.push(d.list, a.Put)
	}
	if !s.reads {
		next.list = emptyList
	}
	all[a.Place] = next
	return all
}
