package target

import "github.com/shardproof/shardproof/faults/suggest"

// Set are the targets that a program knows. The first is that of scenarios that name none.
type Set []Target

// Find is the target of that name, and the first for no name. An error names the nearest ones.
func (s Set) Find(name string) (Target, error) {
	var names []string
	for _, t := range s {
		if d := t.Describe(); name == "" || d.Name == name {
			return t, nil
		} else {
			names = append(names, d.Name)
		}
	}
	return nil, suggest.Unknown("target", name, names, "targets")
}
