package campaign

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/rundir"
)

// PlanError says that two folders are not of one campaign.
type PlanError struct {
	Folders [2]string
	// What differs, and what it is in each of them.
	What   string
	Values [2]string
}

// Error names the folders and what differs.
func (e *PlanError) Error() string {
	return fmt.Sprintf("%s and %s are not of one campaign: the %s is %q in the first and %q in "+
		"the second; merge what the same program was asked to do with the same flags",
		e.Folders[0], e.Folders[1], e.What, e.Values[0], e.Values[1])
}

// OverlapError says that two folders have seeds in common, which would be counted twice.
type OverlapError struct {
	Folders [2]string
	Seeds   []uint64 // in ascending order
}

// Error names the folders and the seeds.
func (e *OverlapError) Error() string {
	return fmt.Sprintf("%s and %s have both run %s; give every machine seeds of its own, and "+
		"leave one of the folders out", e.Folders[0], e.Folders[1], RangesText(e.Seeds))
}

// DivergedError says that two machines ran the same seed with the same build, and that it took
// different paths.
type DivergedError struct {
	Seed    uint64
	Folders [2]string
	Hashes  [2]string
}

// Error names the seed and the folders.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("seed %d took different paths on two machines: its trace hash is %s in %s "+
		"and %s in %s", e.Seed, e.Hashes[0], e.Folders[0], e.Hashes[1], e.Folders[1])
}

// Merge writes a new folder with what the folders of several machines hold, seeds in ascending
// order. Different builds, profiles or settings are a *PlanError, seeds in common an *OverlapError
// or, when they took different paths, a *DivergedError; nothing is written then.
func Merge(to string, folders []string) (merged *Record, machines []*Record, err error) {
	if _, err := os.Lstat(to); err == nil {
		return nil, nil, &rundir.ExistsError{Path: to}
	}
	for _, folder := range folders {
		r, err := ReadRecord(folder)
		if err != nil {
			return nil, nil, err
		}
		machines = append(machines, r)
	}
	if merged, err = together(machines); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, nil, err
	}
	draft, err := os.MkdirTemp(filepath.Dir(to), ".draft-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(draft)
	merged.Folder = draft
	if err := merged.Write(); err != nil {
		return nil, nil, err
	}
	if err := failuredb.Merge(draft, folders); err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(draft, 0o755); err != nil {
		return nil, nil, err
	}
	merged.Folder = to
	return merged, machines, os.Rename(draft, to)
}

// together adds the records up.
func together(machines []*Record) (*Record, error) {
	all := &Record{Plan: machines[0].Plan, Tally: &Tally{Sum: NewSums(), Reached: Reached{}}}
	ranBy := make(map[uint64]*Record)
	hashes := make(map[uint64]string)
	for _, r := range machines {
		if err := samePlan(machines[0], r); err != nil {
			return nil, err
		}
		if err := disjoint(r, ranBy, hashes); err != nil {
			return nil, err
		}
		all.First = min(all.First, r.First)
		all.Outcomes = append(all.Outcomes, r.Outcomes...)
		wall := max(all.Tally.Sum.Wall, r.Tally.Sum.Wall) // machines run at the same time
		all.Tally = all.Tally.Plus(r.Tally)
		all.Tally.Sum.Wall = wall
	}
	slices.SortFunc(all.Outcomes, func(a, b Outcome) int { return cmp.Compare(a.Seed, b.Seed) })
	return all, nil
}

func samePlan(a, b *Record) error {
	for _, v := range [][3]string{
		{"build", a.Build, b.Build}, {"profile", a.Profile, b.Profile},
		{"protocol", a.Protocol, b.Protocol},
		{"settings", strings.Join(a.Set, " "), strings.Join(b.Set, " ")},
	} {
		if v[1] != v[2] {
			return &PlanError{[2]string{a.Folder, b.Folder}, v[0], [2]string{v[1], v[2]}}
		}
	}
	return nil
}

// disjoint adds the seeds of a record to those that were run, unless some of them were already.
func disjoint(r *Record, ranBy map[uint64]*Record, hashes map[uint64]string) error {
	twice := make(map[*Record][]uint64)
	var by *Record
	for _, o := range r.Outcomes {
		other := ranBy[o.Seed]
		if other == nil {
			ranBy[o.Seed], hashes[o.Seed] = r, o.Hash
			continue
		}
		if hashes[o.Seed] != o.Hash {
			return &DivergedError{o.Seed, [2]string{other.Folder, r.Folder},
				[2]string{hashes[o.Seed], o.Hash}}
		}
		by, twice[other] = other, append(twice[other], o.Seed)
	}
	if by == nil {
		return nil
	}
	slices.Sort(twice[by])
	return &OverlapError{[2]string{by.Folder, r.Folder}, twice[by]}
}

// rangesShown is how many ranges of seeds are written out.
const rangesShown = 5

// RangesText is seeds in ascending order as ranges: "seeds 1–4, 9".
func RangesText(seeds []uint64) string {
	if len(seeds) == 0 {
		return "no seeds"
	}
	var parts []string
	for i := 0; i < len(seeds); {
		j := i
		for j+1 < len(seeds) && seeds[j+1] == seeds[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, fmt.Sprint(seeds[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d–%d", seeds[i], seeds[j]))
		}
		i = j + 1
	}
	more := ""
	if n := len(parts) - rangesShown; n > 0 {
		more, parts = fmt.Sprintf(" and %d more ranges", n), parts[:rangesShown]
	}
	return "seeds " + strings.Join(parts, ", ") + more
}

// Seeds are those that the record counts, in ascending order.
func (r *Record) Seeds() []uint64 {
	var seeds []uint64
	for _, o := range r.Outcomes {
		seeds = append(seeds, o.Seed)
	}
	slices.Sort(seeds)
	return seeds
}
