package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// comparison is of this tree with a commit.
type comparison struct {
	root, commit string
	runs, seeds  int
	most         float64
}

func (c *comparison) run() error {
	folder, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	old, tree := filepath.Join(folder, "old"), filepath.Join(folder, "tree")
	if err := c.command("git", "worktree", "add", "--detach", tree, c.commit).Run(); err != nil {
		return fmt.Errorf("the commit %s cannot be had: %w", c.commit, err)
	}
	defer c.command("git", "worktree", "remove", "--force", tree).Run()
	now := filepath.Join(folder, "now")
	for out, source := range map[string]string{old: tree, now: c.root} {
		if err := c.command("go", "build", "-C", source, "-o", out,
			"./cmd/shardproof").Run(); err != nil {
			return fmt.Errorf("%s cannot be built: %w", source, err)
		}
	}
	ratios, err := c.ratios(now, old)
	if err != nil {
		return err
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	fmt.Printf("processor time of %d seeds, this tree to %s: %.3f (%.3f to %.3f in %d pairs)\n",
		c.seeds, c.commit, median, ratios[0], ratios[len(ratios)-1], len(ratios))
	if median > c.most {
		return fmt.Errorf("that is more than %.2f", c.most)
	}
	return nil
}

// command is one whose folder is the project and whose complaints are seen.
func (c *comparison) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = c.root, os.Stderr
	return cmd
}

// ratios runs both in turn: the machine's speed changes, and hardly within a pair.
func (c *comparison) ratios(now, old string) (ratios []float64, err error) {
	for range c.runs {
		var seconds [2]float64
		for i, tool := range []string{now, old} {
			cmd := exec.Command(tool, "run", "--parallel", "1", "--again", "0",
				"--seeds", strconv.Itoa(c.seeds))
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", tool, err, out)
			}
			seconds[i] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
		ratios = append(ratios, seconds[0]/seconds[1])
	}
	return ratios, nil
}
