package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// edit is a line of a difference: kept (' '), only in the old text ('-'), or only in the new one ('+').
type edit struct {
	mark byte
	line string
}

// diffContext is how many kept lines are shown around a change.
const diffContext = 3

// unifiedDiff renders the difference of two files in hunks, as patch reads them.
func unifiedDiff(path string, old, new []byte) string {
	edits := lineDiff(splitLines(old), splitLines(new))
	var s strings.Builder
	name := filepath.ToSlash(path)
	fmt.Fprintf(&s, "--- %s\n+++ %s\n", name, name)
	oldLine, newLine := 0, 0 // before edits[i]
	for i := 0; i < len(edits); {
		if edits[i].mark == ' ' {
			oldLine, newLine, i = oldLine+1, newLine+1, i+1
			continue
		}
		from := max(0, i-diffContext)
		to := hunkEnd(edits, i)
		before := i - from
		part := edits[from:to]
		olds, news := count(part)
		fmt.Fprintf(&s, "@@ -%s +%s @@\n", hunk(oldLine-before, olds), hunk(newLine-before, news))
		for _, e := range part {
			fmt.Fprintf(&s, "%c%s\n", e.mark, e.line)
		}
		oldLine, newLine, i = oldLine-before+olds, newLine-before+news, to
	}
	return s.String()
}

// hunkEnd returns where the hunk with the change at i ends: before a stretch of kept lines that is long
// enough to stand between two hunks.
func hunkEnd(edits []edit, i int) int {
	end := i + 1
	for j := i + 1; j < len(edits) && j-end <= 2*diffContext; j++ {
		if edits[j].mark != ' ' {
			end = j + 1
		}
	}
	return min(len(edits), end+diffContext)
}

func count(edits []edit) (olds, news int) {
	for _, e := range edits {
		if e.mark != '+' {
			olds++
		}
		if e.mark != '-' {
			news++
		}
	}
	return olds, news
}

// hunk is n lines behind the first before, as the head of a hunk has it.
func hunk(before, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}

// maxDiffCells bounds the table of a comparison; larger differences are shown as one change.
const maxDiffCells = 16 << 20

// lineDiff compares two texts line by line: the longest common subsequence is kept.
func lineDiff(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head, a, b = append(head, edit{' ', a[0]}), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail, a, b = append(tail, edit{' ', a[len(a)-1]}), a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, middleDiff(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

func middleDiff(a, b []string) []edit {
	var out []edit
	common := func(i, j int) int32 { return 0 }
	if len(a)*len(b) <= maxDiffCells {
		common = commonLines(a, b)
	} else {
		for _, l := range a {
			out = append(out, edit{'-', l})
		}
		a = nil
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out, i, j = append(out, edit{' ', a[i]}), i+1, j+1
		case j == len(b) || i < len(a) && common(i+1, j) >= common(i, j+1):
			out, i = append(out, edit{'-', a[i]}), i+1
		default:
			out, j = append(out, edit{'+', b[j]}), j+1
		}
	}
	return out
}

// commonLines tabulates how many lines a[i:] and b[j:] have in common, in order.
func commonLines(a, b []string) func(i, j int) int32 {
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	return func(i, j int) int32 { return table[i*width+j] }
}

func splitLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(b, []byte("\n"))), "\n")
}
