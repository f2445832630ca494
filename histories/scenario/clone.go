package scenario

import "slices"

// Clone is a copy that shares nothing with s: changing one leaves the other as it is.
func (s *Scenario) Clone() *Scenario {
	c := *s
	c.Collections = slices.Clone(s.Collections)
	for i := range c.Collections {
		c.Collections[i].Bounds = slices.Clone(c.Collections[i].Bounds)
	}
	c.Settings = slices.Clone(s.Settings)
	c.Ops = slices.Clone(s.Ops)
	c.Migrations = slices.Clone(s.Migrations)
	c.Commands = slices.Clone(s.Commands)
	for i := range c.Commands {
		c.Commands[i].Fields = slices.Clone(c.Commands[i].Fields)
	}
	c.Primaries = slices.Clone(s.Primaries)
	c.Streams = slices.Clone(s.Streams)
	c.Faults = slices.Clone(s.Faults)
	for i := range c.Faults {
		f := &c.Faults[i]
		f.Args = slices.Clone(f.Args)
		if f.Until != nil {
			until := *f.Until
			f.Until = &until
		}
	}
	c.Decisions = slices.Clone(s.Decisions)
	return &c
}
