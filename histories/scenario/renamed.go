package scenario

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed renamed.txt
var renamedText string

// renamed is what names of schema 1 are called now, by kind and old name.
var renamed = func() map[[2]string]string {
	all := map[[2]string]string{}
	for line := range strings.Lines(renamedText) {
		if w := strings.Fields(line); len(w) == 3 && w[0] != "#" {
			all[[2]string{w[0], w[1]}] = w[2]
		}
	}
	return all
}()

// NowCalled is the present name of something that had another one in scenarios of schema 1; false
// when it has no other. Kind is failpoint, setting, fault, profile, strategy, checker, decision,
// fact, node or sweep.
func NowCalled(kind, old string) (name string, is bool) {
	kind = strings.ReplaceAll(kind, " ", "-")
	name, is = renamed[[2]string{kind, old}]
	if is {
		return name, true
	}
	if site, ok := strings.CutPrefix(old, failpointSetting); kind == "setting" && ok {
		name, is = NowCalled("failpoint", site)
		return failpointSetting + name, is
	}
	// A row that ends in a star is about every name that begins so.
	for at := strings.LastIndexByte(old, '.'); at >= 0; at = strings.LastIndexByte(old[:at], '.') {
		if prefix, is := renamed[[2]string{kind, old[:at+1] + "*"}]; is {
			return strings.TrimSuffix(prefix, "*") + old[at+1:], true
		}
	}
	return "", false
}

// failpointSetting starts the settings that switch failpoints on.
const failpointSetting = "failpoint."

// OldName is the error for a name of schema 1 where one of today is wanted; nil for any other name.
func OldName(kind, old string) error {
	if name, is := NowCalled(kind, old); is {
		return fmt.Errorf("the %s %s is now called %s", kind, quoteWord(old), name)
	}
	return nil
}
