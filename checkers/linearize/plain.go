package linearize

// plain puts unseenValue in the place of each identity that none of the acts noticed: of a value
// that nobody saw, and of what was pushed and is in no list that was shown. That makes acts of
// unknown outcome alike, which could otherwise be of too many kinds to follow. If some acts are
// left out later, the rest is plain, or can be made so again with the same result as at first.
func (s *specification) plain(acts []KeyOp) {
	values, pushed := s.noticed(acts)
	for i := range acts {
		switch a := &acts[i]; {
		case a.Put < firstName:
		case a.Do.puts() && !values[a.Put], a.Do == Append && !pushed[a.Put]:
			a.Put = unseenValue
		}
	}
}

// noticed says of each identity whether one of the acts noticed it as a value, and whether in a
// list.
func (s *specification) noticed(acts []KeyOp) (values, pushed []bool) {
	highest := Absent
	for i := range acts {
		highest = max(highest, acts[i].Seen, acts[i].Put)
		for _, id := range s.shown[acts[i].List] {
			highest = max(highest, id)
		}
	}
	values, pushed = make([]bool, highest+1), make([]bool, highest+1)
	for i := range acts {
		a := &acts[i]
		if a.See == Exactly || a.See == Except {
			values[a.Seen] = true
		}
		for _, id := range s.shown[a.List] {
			pushed[id] = true
		}
	}
	return values, pushed
}
