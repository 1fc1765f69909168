// Package system turns a check of a specification into processes and channels of the explorer: it
// packs the values of machines, their messages and what lies between them into bytes, and gives
// each claim a predicate over them. It neither searches nor says what was found; package check does
// both. Start from [New].
package system

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/check/reduce"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// MaxArguments is how many argument tuples a command may have in a check.
const MaxArguments = 1 << 16

// spareLabels are for steps that take several transitions of the role, which
// are met only in the course of the search.
const spareLabels = 1024

// Machines are the instances of one check as a system of the explorer, with what is needed to
// tell its results in the author's words.
type Machines struct {
	// Protocol is the specification, specialised for the check.
	Protocol *model.Protocol
	Check    *model.Check
	hostile  *stage.Hostile
	// Frames are those of the messages that are sent.
	Frames   *stage.Frames
	crossing Crossing // nil: a message is the same to all
	// System is for explore.Run, with Options.Checks = Checks.
	System *explore.System
	Checks explore.Checks
	// Claims are the check's claims in the order of System.Claims; those that
	// are not the author's (deadlock with quiet) have Stated nil.
	Claims []Claim

	Texts *interp.Strings
	Procs []*Process
	// Joint are the monitors of several instances.
	Joint []*stage.Monitor
	heard []*hearsay // by monitor
	// Parts are the instances and their channels as conditions see them.
	Parts *cond.Parts
	// Rules say what lies between the instances.
	Rules world.Rules
	// Own is how many channels there are between instances. Then come those of the machine that parts
	// the instances, and from clockAt on those of the clock.
	Own     int
	clockAt int
	labels  map[string]uint32 // of steps with several transitions
	Counted *cover            // nil: lines are not counted
	Taken   [][]int           // by label: the role's transitions it stands for
	spare   int
	Closes  bool
	// Saw, if set, is told of everything that a machine is given in the search, also of what it then refuses: commands
	// that are not available, and what hostile instances send in vain. Its arguments hold only during the call.
	Saw func(inst *model.Instance, v interp.Value, ev interp.Event)
	// Dead are the variables to be forgotten where they are dead; nil: none. Spared are the values of
	// machines that were changed by that.
	Dead    reduce.Dead
	Spared  map[string]bool
	Faulty  string // why a message of a hostile instance was a fault; the first such one
	Refusal string // why a command was not available though its state handles it; the first such fault
}

// Claim is one claim as the explorer sees it.
type Claim struct {
	// Name is the author's, or that of a built-in claim.
	Name   string
	Stated *model.Claim
	Index  int // in System.Claims
	Eval   *cond.Predicate
}

// Process is one instance as the explorer steps it: an adapter of runtime/world. What happens is
// decided there; here local values are unpacked and packed, and steps get their labels, notes and
// conditions.
type Process struct {
	sys      *Machines
	frames   *stage.Frames
	Inst     *model.Instance
	Role     *model.Machine
	Machine  *interp.Machine
	Initial  interp.Value
	noStart  bool // start does nothing: the machine begins as if it were done
	Attacks  []Attack
	Commands []command
	bounded  int // rules with a number of times
	Timers   []timer
	label    int // of transition 0
	specials int // label of the first step that is no event
	// places in the local value of what links, faults and time need; -1: not needed
	AtDown, AtAbsent, atWaiting, atUp, atAsked, atBroken, AtCutoff, atTold, atHeard int
	atCrashes, atRestarts, atComes, atReturns, atLeft                               int

	atHearsay []int // by monitor of several instances; -1: it does not watch this one

	peers      uint64 // instances to which there is a link
	settled    []int  // channels of which it is settled whether a crash is told there, see told
	monitors   []monitor
	quietInput []explore.LenRange // nothing is under way to the instance
	watch      interp.Eval
	watched    []int64
	last       taken
	// Layout is that of its local values.
	*codec.Layout
}

// Attack is a hostile instance, as an honest one sees it.
type Attack struct {
	From int
	// Messages are all that it may send, Left what of them is left out, in words.
	Messages [][]byte
	Left     []string
	link     bool
}

// command is a command with all its arguments.
type command struct {
	Event *model.Event
	Args  [][]int64
	Rule  *cond.Rule // nil: always
	Count int        // which counter bounds it, -1: none
	does  []int      // the duties of the program that it is one way to do
}

// timer is a timer of the machine or of one of its parts.
type timer struct {
	ev    *model.Event
	at    []interp.At
	index int     // instance of a keyed timer
	args  []int64 // its keys
	slot  int
	base  int // where the values of the machine that has the timer begin, a part's or one's own
	size  int
	Rule  *cond.Rule // nil: always; it is over those values
	Count int        // which counter bounds it, -1: none
}

// taken is what the machine did in the last step of a process.
type taken struct {
	ev    interp.Event
	res   fsm.Result
	fault *interp.Fault
	lost  string           // why a message has nobody to go to
	bare  string           // which message has no frame, and why
	heard [][]interp.Event // by monitor of several instances
}

// monitor watches a leadsTo with a bound, at the one instance that it is about.
type monitor struct {
	claim      *model.Claim
	when, goal core.Expr
	most       int64 // beats
	at         int   // where it counts: 0 nothing is due, n+1 after n beats; most+2 too late
}

// cover counts which lines of a specification the steps of a search used. The search itself only
// adds: every step has a number (explore.Step.Tally) that stands for all the marks of its trail.
type cover struct {
	ids    map[string]uint32
	trails [][]report.Mark // by tally minus 1
}

// Channel is the index of the channel of a class between two instances.
func (s *Machines) Channel(from, to, class int) int {
	if to > from {
		to--
	}
	return (from*(len(s.Check.Instances)-1)+to)*(1+len(s.Check.Beside)) + class
}

// Receivers lists the instances a message goes to.
func (s *Machines) Receivers(from int, e *interp.Effect) ([]int, string) {
	n := len(s.Check.Instances)
	what := "what is closed"
	if e.Message != nil {
		what = e.Message.Name
	}
	switch {
	case e.Dest == model.ToPeer && n == 2:
		return []int{1 - from}, ""
	case e.Dest == model.ToPeer:
		return nil, what + " is sent to the peer, but this check has not two instances: say to whom"
	case e.To == int(fsm.Broadcast):
		var all []int
		for i := range n {
			if i != from {
				all = append(all, i)
			}
		}
		return all, ""
	case e.To == from:
		return nil, what + " is sent by an instance to itself"
	case e.To < 0 || e.To >= n:
		return nil, what + " is sent to an instance that the check has not"
	}
	return []int{e.To}, ""
}

// Reached lists the instances that a send or a close goes to; none where that is wrong.
func (s *Machines) Reached(from int, e *interp.Effect) []int {
	to, _ := s.Receivers(from, e)
	return to
}

func (s *Machines) addLabel(name string, proc int, taken ...int) {
	s.System.Labels = append(s.System.Labels, explore.Label{Name: name, Proc: proc})
	s.Taken = append(s.Taken, taken)
}

// special is the label of a step that is no event of the machine.
func (p *Process) special(kind int) uint32 { return uint32(p.specials + kind) }

// step makes such a step.
func (p *Process) step(kind int, next []byte) explore.Step {
	return explore.Step{Label: p.special(kind), Next: next, Note: codec.PackSpecial(kind)}
}

// Holds reports whether some role defers messages.
func (s *Machines) Holds() bool {
	return slices.ContainsFunc(s.Check.Instances, func(i *model.Instance) bool { return i.Role.Defers() })
}

// heldMessages lists what an instance holds at a local value.
func (s *Machines) heldMessages(i int, b []byte) [][]byte {
	if i >= len(s.Procs) {
		return nil
	}
	var out [][]byte
	for _, h := range s.Procs[i].Unpack(b).Held {
		out = append(out, []byte(h.Message))
	}
	return out
}

// isSpecial reports whether a label is of such a step, or of a machine that is no instance.
func (s *Machines) isSpecial(label uint32) bool {
	proc := s.System.Labels[label].Proc
	if proc < 0 {
		return false
	}
	if proc >= len(s.Procs) {
		return true
	}
	first := s.Procs[proc].specials
	return int(label) >= first && int(label) < first+codec.NoteKinds
}
func (s *Machines) MessageText(msg []byte) string {
	if n, ok := codec.NewsOf(s.Protocol, msg); ok {
		return "(" + n.String() + ")"
	}
	m, slots := codec.UnpackMessage(s.Protocol, msg)
	return string(interp.AppendMessage(nil, s.Texts, m, slots))
}

func (s *Machines) localText(proc int, v []byte) string {
	if proc >= len(s.Procs) {
		return s.System.ProcNames[proc]
	}
	p := s.Procs[proc]
	return string(interp.AppendMachine(nil, s.Texts, p.Role, p.Unpack(v).Value))
}
