// Package scenario runs small texts that tell what happens in a protocol, step
// by step, and compares what the machines do with what the text says. A scenario is
// a file of blocks: lines of input, a line `----`, and the exact output.
//
//	# both sides confirm at once
//	a confirm
//	b confirm
//	----
//	a: confirm  waiting → localOk, send CONFIRM1
//	b: confirm  waiting → localOk, send CONFIRM1
//
//	deliver a -> b
//	show
//	----
//	b: CONFIRM1  localOk → committed, send CONFIRM2
//	a: localOk
//	b: committed
//	b -> a: CONFIRM1, CONFIRM2
//
// Lines of input are:
//
//	check NAME            the instances and domains of that check; must come first; default: the first check
//	check NAME exactly    likewise; every step has a line, and the check's links and faults hold
//	INSTANCE EVENT        a command, start, up, lost, or a timer's expiry, as text (`a change{value: 2}`)
//	deliver A -> B        the oldest message on that channel arrives (`deliver A -> B 2`: the next two)
//	deliver A -> B on C   likewise on one of several channels; also with a number, and of drop, copy and the like
//	drop A -> B           it is lost
//	copy, swap, crash, restart, break, return, partition, heal, forge and others: see docs/LANGUAGE.md
//	show                  the machines' states and what is under way
//	show A                one machine with its variables
//
// Events that are refused say so; that is no error of the scenario. The package knows no
// files of specifications: it is given a function that loads one. Start from [Run].
package scenario

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Block is one piece of a scenario.
type Block struct {
	// Line is the number of its first input line, from 1.
	Line int
	// Head are comment and blank lines before it, kept when the file is written again.
	Head  []string
	Input []string
	Want  string
}

const rule = "----"

// Parse reads a scenario.
func Parse(r io.Reader) ([]Block, error) {
	var blocks []Block
	b := Block{}
	out := false // in the output part
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimRight(sc.Text(), " \t")
		switch {
		case out && line == "":
			blocks = append(blocks, b)
			b, out = Block{}, false
		case out:
			b.Want += line + "\n"
		case line == rule:
			if len(b.Input) == 0 {
				return nil, &LineError{n, fmt.Errorf("%s without input before it", rule)}
			}
			out = true
		case len(b.Input) == 0 && (line == "" || strings.HasPrefix(line, "#")):
			b.Head = append(b.Head, line)
		default:
			if len(b.Input) == 0 {
				b.Line = n
			}
			b.Input = append(b.Input, line)
		}
	}
	if len(b.Input) > 0 {
		if !out {
			return nil, &LineError{b.Line, fmt.Errorf("input without %s and output behind it", rule)}
		}
		blocks = append(blocks, b)
	}
	return blocks, sc.Err()
}

// Format writes blocks as a scenario.
func Format(blocks []Block) string {
	var s strings.Builder
	for i, b := range blocks {
		if i > 0 {
			s.WriteString("\n")
		}
		for _, l := range append(b.Head, b.Input...) {
			s.WriteString(l + "\n")
		}
		s.WriteString(rule + "\n" + b.Want)
	}
	return s.String()
}
