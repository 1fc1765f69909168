package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// quote returns the lines at a place, without the indentation that they share, and the number of
// the first one.
func quote(root string, p place) (lines []string, first int, err error) {
	text, err := os.ReadFile(filepath.Join(root, p.file))
	if err != nil {
		return nil, 0, err
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	lines, first = follow(all, p.path)
	if lines == nil {
		return nil, 0, fmt.Errorf("%s has no lines at `%s`", p.file, strings.Join(p.path, " "))
	}
	shared := indent(lines[0])
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line[min(shared, indent(line)):]
	}
	return out, first + 1, nil
}

// follow finds the first block that the keys lead to, each within the block of the one before, and
// how many lines are before it; nil if there is none.
func follow(lines []string, path []string) (block []string, at int) {
	for i := range lines {
		if !begins(lines[i], path[0]) {
			continue
		}
		block := lines[i : i+1+below(lines[i:])]
		if len(path) == 1 {
			return block, i
		}
		if found, n := follow(block[1:], path[1:]); found != nil {
			return found, i + 1 + n
		}
	}
	return nil, 0
}

// begins reports whether a line begins with a key, be it behind the dash of a list or alone within `on`.
func begins(line, key string) bool {
	t := strings.TrimPrefix(strings.TrimSpace(line), "- ")
	return strings.HasPrefix(strings.TrimPrefix(t, "on: {"), key+":")
}

// below counts the lines that belong to the first one.
func below(lines []string) int {
	n := 0
	for n+1 < len(lines) && (lines[n+1] == "" || indent(lines[n+1]) > indent(lines[0])) {
		n++
	}
	return n
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
