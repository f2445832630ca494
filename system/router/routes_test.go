package router

import (
	"fmt"
	"testing"
)

// TestNamesAreForgotten: a router does not keep the routes of every name that it was ever asked
// for, but those of the last.
func TestNamesAreForgotten(t *testing.T) {
	r := &Router{routes: make(map[string]*routingCache)}
	name := func(i int) string { return fmt.Sprintf("test.name%d", i) }
	const asked = 3 * mostRoutes
	for i := range asked {
		known := r.routesOf(name(i))
		if r.routesOf(name(i)) != known {
			t.Fatalf("the routes of %s were forgotten at once", known.ns)
		}
	}
	if len(r.routes) != mostRoutes || len(r.named) != mostRoutes {
		t.Errorf("the routes of %d collections are kept, in a list of %d",
			len(r.routes), len(r.named))
	}
	for i := asked - mostRoutes; i < asked; i++ {
		if r.routes[name(i)] == nil {
			t.Fatalf("those of %s are not", name(i))
		}
	}
}
