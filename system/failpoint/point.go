// Package failpoint is the catalog of failpoint sites: every phase of every role at which the
// world may pause, fail or crash a node (failpoints 18.2). It holds names only, so that planners of
// faults can enumerate them; what happens at a site is decided elsewhere.
//
// Promise: a site's name never changes its meaning, and the list is the same in every process.
//
// Refusal: it does not decide what happens at a site, or when.
package failpoint

import "sort"

// Role is the part of the system that passes a site; the site's name begins with it.
type Role string

// The roles.
const (
	Donor        Role = "donor"
	Recipient    Role = "recipient"
	Config       Role = "config"
	Router       Role = "router"
	Request      Role = "request"
	RangeDeleter Role = "rangeDeleter"
	Recovery     Role = "recovery"
	Session      Role = "session"
	Replica      Role = "replica"
	MovePrimary  Role = "movePrimary"
	Split        Role = "split"
	Balancer     Role = "balancer"
)

// Site identifies a place in the code. The zero Site is no place.
type Site uint16

// Info describes a site.
type Info struct {
	Site Site
	// Name is "<role>.<phase>", for example "donor.persistDecision.before".
	Name string
	Role Role
	// Risk says in one clause what goes wrong when the step is lost, late or duplicated here.
	Risk string
	// System is whose code announces the site; empty for the store of this module.
	System string
}

var catalog = []Info{{Name: "none"}}

// declare adds a site. It is called from package-level variables only, so the order is that of the
// files.
func declare(role Role, name, risk string) Site {
	s := Site(len(catalog))
	catalog = append(catalog, Info{Site: s, Name: name, Role: role, Risk: risk})
	return s
}

// Declare adds a site of the store of this module, in the file that passes it. The sites that
// follow MongoDB's phases are in the files of this package instead. Its name must not be that of
// any other site. It is called from package-level variables only.
func Declare(role Role, name, risk string) Site {
	if _, known := Parse(name); known {
		panic("failpoint: the site " + name + " is declared twice")
	}
	return declare(role, name, risk)
}

// Register is Declare for another system than the store of this module, which has a name.
func Register(system string, role Role, name, risk string) Site {
	if system == "" {
		panic("failpoint: the site " + name + " is registered for a system without a name")
	}
	s := Declare(role, name, risk)
	catalog[s].System = system
	return s
}

// String is the site's name.
func (s Site) String() string {
	if int(s) < len(catalog) {
		return catalog[s].Name
	}
	return "unknown"
}

// Info describes the site.
func (s Site) Info() Info { return catalog[s] }

// Role is who passes the site.
func (s Site) Role() Role { return catalog[s].Role }

// All returns every site of the store of this module, by name.
func All() []Info { return Of("") }

// Of returns every site of a system, by name; those of the store of this module for the empty name.
func Of(system string) (all []Info) {
	for _, in := range catalog[1:] {
		if in.System == system {
			all = append(all, in)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Catalog is every site of every system, in the order of declaration. It must not be changed.
func Catalog() []Info { return catalog[1:] }

// Parse finds a site by its name.
func Parse(name string) (Site, bool) {
	for _, in := range catalog[1:] {
		if in.Name == name {
			return in.Site, true
		}
	}
	return 0, false
}

// Count is one more than the largest Site, for tables indexed by site.
func Count() int { return len(catalog) }
