package shrink

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatTrial is a trial as a line of a journal.
func FormatTrial(key uint64, t Trial) string {
	line := fmt.Sprintf("%016x", key)
	if !t.Same {
		return line + " other"
	}
	line += " same"
	for _, op := range t.Ops {
		line += " " + strconv.Itoa(op)
	}
	return line
}

// ParseTrials reads the lines of FormatTrial.
func ParseTrials(lines []string) (map[uint64]Trial, error) {
	known := make(map[uint64]Trial, len(lines))
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[1] != "same" && fields[1] != "other" {
			return nil, fmt.Errorf("line %d is not a trial: %q", i+2, line)
		}
		key, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d is not a trial: %w", i+2, err)
		}
		t := Trial{Same: fields[1] == "same"}
		for _, f := range fields[2:] {
			op, err := strconv.Atoi(f)
			if err != nil {
				return nil, fmt.Errorf("line %d names no operation: %w", i+2, err)
			}
			t.Ops = append(t.Ops, op)
		}
		known[key] = t
	}
	return known, nil
}
