// Package graph draws machines and runs of protocols: state diagrams as
// Graphviz DOT, SVG and Mermaid, sequence charts as SVG, Mermaid and text.
// Everything is a pure function of a [model.Machine] or a [Chart]; the same
// input gives the same bytes. The package runs no programs and reads no files.
// Start from [DOT] for machines and from [Chart] for runs.
//
// The stages for a machine are: [fold] decides what goes into the common note,
// labels.go turns branches into text, [build] makes boxes and edges of it, and
// one file per format writes those down.
package graph

import (
	"github.com/parley-go/parley/gen/model"
)

// Detail says how much of a branch a label shows.
type Detail uint8

const (
	// Auto is the most that leaves a machine of its size readable.
	Auto Detail = iota
	// Names shows events and guards.
	Names
	// Effects shows also what leaves the machine: messages, reports, timers, events for parts.
	Effects
	// Assignments shows also what changes inside.
	Assignments
	// Everything shortens nothing.
	Everything
)

// Options say what a diagram shows. The zero value is a good picture of most machines.
type Options struct {
	Detail Detail
	// Unfold draws handlers that many states share in every one of them
	// instead of once in a note.
	Unfold bool
	// NoLegend leaves out the explanation of colours.
	NoLegend bool
	// Protocol is the one that the machine is a role of; nil: only the machine is drawn. From the protocol come the
	// line below the title of a machine without a doc of its own, the notes on channels, phases, tagged unions and
	// checks, and the monitors that watch the role.
	Protocol *model.Protocol
	// Width is the number of characters after which a label is broken; 0 means 38.
	Width int
	// Marks, if not empty, makes the SVG one that a page can bring to life: see [SVG]. Ids in it begin with Marks, so
	// that several stand on one page.
	Marks string
	flat  bool // with entry and exit actions where they happen, not at the state that has them
	// long are the conditions that stand in a note, since they are too long for a label; nil: they are cut.
	long *[]string
	// reports are the events of a monitor that are reports of those whom it watches.
	reports map[*model.Event]bool
}

// toneOf is the tone of an event.
func (o Options) toneOf(e *model.Event) tone {
	if o.reports[e] {
		return told
	}
	return eventTone(e.Kind)
}

// Auto shows assignments in machines of at most fewHandlers handlers beside the
// common ones, and names only in those of more than manyHandlers.
const (
	fewHandlers  = 16
	manyHandlers = 90
)

func (o Options) withDefaults(m *model.Machine) Options {
	if o.Width == 0 {
		o.Width = 38
	}
	if o.Detail == Auto {
		switch n := len(fold(m, o).rest); {
		case n <= fewHandlers:
			o.Detail = Assignments
		case n <= manyHandlers:
			o.Detail = Effects
		default:
			o.Detail = Names
		}
	}
	return o
}

// tone is the meaning of a piece of text or a line; every format has its own
// way to show it.
type tone uint8

const (
	plain tone = iota
	title
	faint
	guard
	received  // a message arrived
	commanded // the program wants something
	timed     // a timer expired
	told      // a part reported or finished
	linked    // start, up, lost
	tones
)

// colours of the tones; all are dark enough to be read on white.
var colours = [tones]string{
	plain: "#222222", title: "#111111", faint: "#777777", guard: "#6b5b00",
	received: "#0b5394", commanded: "#2f6f1f", timed: "#b45309", told: "#6b3fa0", linked: "#555555",
}

// toneNames explain the tones in legends.
var toneNames = [tones]string{
	received: "message received", commanded: "command", timed: "timer", told: "report of a part", linked: "link",
}

func eventTone(k model.EventKind) tone {
	switch k {
	case model.EventMessage:
		return received
	case model.EventCommand:
		return commanded
	case model.EventTimer:
		return timed
	case model.EventReport, model.EventFinished:
		return told
	}
	return linked
}

// piece is a stretch of text of one tone, line a row of pieces.
type piece struct {
	text string
	tone tone
}

type line struct {
	pieces []piece
	tip    string // what the reader sees on pointing at it: place and full text
}

func (l line) text() string {
	s := ""
	for _, p := range l.pieces {
		s += p.text
	}
	return s
}

// box is a state.
type box struct {
	name  string
	in    *frame // nil if no state is around it
	final bool
	some  bool // stands for the states of a note, not for one
	rows  []line
	tip   string
}

// frame is a state that has states of its own. It is drawn around their boxes.
type frame struct {
	name, tip string
	in        *frame
	rows      []line
	number    int
	history   bool // an edge resumes it, and leads to its history mark
	of        *model.Composite
	// monitor: it is around the states of a monitor, of which initial is the box that it begins in.
	monitor bool
	initial int
}

// edge is all transitions from one state to another.
type edge struct {
	from, to int    // indices of boxes
	out, in  *frame // the edge begins at the frame instead, or ends at its history mark
	lines    []line
	tone     tone // plain if the lines differ
	tip      string
	of       []*model.Transition // empty for those of monitors
}

// note has the handlers that many states have in common.
type note struct {
	head string
	rows []line
	of   []*model.Transition
}

// diagram is a machine made ready for drawing.
type diagram struct {
	name, doc string
	initial   int
	boxes     []box
	frames    []*frame // outer ones first
	edges     []edge
	notes     []note
	legend    []tone // tones that occur, in order
	hint      string // explains a word
	watched   bool   // there are monitors
	marks     string // Options.Marks
	states    int    // the first so many boxes are the states of the role

	base  int    // box of the first state of the machine that is being added
	outer *frame // around all its states; nil but for a monitor
}
