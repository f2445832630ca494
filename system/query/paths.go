package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
)

// pathSet holds paths of which none leads through another; false stands for what paths lead
// through.
type pathSet map[string]bool

// add returns the path that is in the way, if one is.
func (s pathSet) add(path string) (other string, free bool) {
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if s[path[:i]] {
			return path[:i], false
		}
		s[path[:i]] = false
	}
	if _, known := s[path]; known {
		return path, false
	}
	s[path] = true
	return "", true
}

// MaxLevels is how deep the documents of clients may be nested.
const MaxLevels = 180

// checkLevels refuses a path that leads deeper than documents may be nested: each of its names
// costs a pass over the document that is made.
func checkLevels(path string) error {
	if n := strings.Count(path, ".") + 1; n > MaxLevels {
		return errcode.New(errcode.BSONObjectTooLarge,
			"a path of %d names leads deeper than the %d levels of a document", n, MaxLevels)
	}
	return nil
}

// TooDeep reports whether a document is nested deeper than those of clients may be.
func TooDeep(doc bson.Raw) bool {
	const least = 7 // bytes that a level takes: type, name, size and end
	return len(doc) > least*MaxLevels && deeper(doc, MaxLevels)
}

func deeper(doc bson.Raw, levels int) bool {
	return levels == 0 || anyIn(doc, func(v bson.RawValue) bool {
		return isContainer(v) && deeper(bson.Raw(v.Value), levels-1)
	})
}

// change adds a path that an operator changes.
func (s pathSet) change(path string) error {
	if err := checkLevels(path); err != nil {
		return err
	}
	if other, free := s.add(path); !free {
		return errcode.New(errcode.ConflictingUpdateOperators,
			"Updating the path '%s' would create a conflict at '%s'", path, other)
	}
	return nil
}

// changeAll adds the paths of an operator that is not applied.
func (s pathSet) changeAll(fields bson.Raw) error {
	_, err := everyElement(fields, func(path string, _ bson.RawValue) (bool, error) {
		return true, s.change(path)
	})
	return err
}

// checkPath refuses paths that stages and projections cannot have.
func checkPath(path string) error {
	for name := range strings.SplitSeq(path, ".") {
		if name == "" || strings.HasPrefix(name, "$") {
			return badValue("the path %q has a name that is empty or begins with $", path)
		}
	}
	return checkLevels(path)
}
