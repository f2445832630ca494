// Package schemata builds one program, and tests of packages, with all mutants in them.
//
// Promise: nothing in the project's tree is written; the changed copies replace the originals at
// build time only (go build -overlay). Refusal: it does not judge what the program does.
package schemata

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Build writes the copies of files, by the originals' absolute paths, below scratch, and builds the
// main package into the program whose path it returns. Root is the folder in which the go command
// runs.
func Build(root, scratch, mainPackage string, copies map[string][]byte) (string, error) {
	overlay, err := Overlay(root, scratch, copies)
	if err != nil {
		return "", err
	}
	program := filepath.Join(scratch, "program")
	return program, compile(root, "build", "-overlay", overlay, "-o", program, mainPackage)
}

// Tests does the same for the tests of packages, which are paths below root. It returns the path of
// each package's program.
func Tests(
	root, scratch string, packages []string, copies map[string][]byte,
) (map[string]string, error) {
	overlay, err := Overlay(root, scratch, copies)
	if err != nil {
		return nil, err
	}
	programs := map[string]string{}
	for _, p := range packages {
		programs[p] = filepath.Join(scratch, "tests", filepath.FromSlash(p)+".test")
		err := compile(root, "test", "-c", "-vet=off", "-overlay", overlay, "-o", programs[p], "./"+p)
		if err != nil {
			return nil, err
		}
	}
	return programs, nil
}

func compile(root, what string, args ...string) error {
	args = append([]string{what, "-buildvcs=false"}, args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s with the mutants does not compile: %w\n%s",
			args[len(args)-1], err, text)
	}
	return nil
}

// Overlay writes the copies and returns the path of the file for go build -overlay.
func Overlay(root, scratch string, copies map[string][]byte) (string, error) {
	replace := map[string]string{}
	var all []error
	for path, text := range copies {
		name, err := filepath.Rel(root, path)
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(scratch, hidden, name)
		all = append(all, write(replace[path], text))
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", " ")
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	return overlay, errors.Join(slices.Insert(all, 0, write(overlay, text))...)
}

// hidden is the folder of the copies; the go command takes none of such a name for a package of the
// tree.
const hidden = "_copies"

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
