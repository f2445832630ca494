package linearize

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// plainState is a state as one would write it down: what is in each place, its list in full.
type plainState [mostNames]struct {
	value ID
	list  string
}

// reference is the specification without anything that a search leaves out or takes together.
func (k *Key) reference() porcupine.Model {
	lists := k.pushes()
	return porcupine.Model{
		Init: func() any { return plainState{} },
		Step: func(s, input, _ any) (bool, any) {
			all, a := s.(plainState), input.(*KeyOp)
			d := all[a.Place]
			holds := a.holds(d.value)
			if lists && a.Shows {
				holds = holds && written(k.Lists[a.List]) == d.list
			}
			if !holds {
				return a.Maybe, all
			}
			if a.Do == Move {
				all[a.Into], all[a.Place] = d, plainState{}[0]
				return true, all
			}
			d.value = a.value(d.value)
			switch a.Do {
			case Set, Remove:
				d.list = ""
			case Append:
				d.list += written([]ID{a.Put})
			}
			all[a.Place] = d
			return true, all
		},
	}
}

func written(list []ID) (text string) {
	for _, id := range list {
		text += fmt.Sprint(id, " ")
	}
	return text
}
