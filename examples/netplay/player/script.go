package player

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parley-go/parley/machines/netplay"
)

// ScriptHelp explains scripts to users.
const ScriptHelp = `A script has one line for each thing that this side does, in order. A line is done when it is possible: it
waits for the right state. What is not in the script is done by default: the own team is told, ships are chosen, inputs
made. This side confirms by itself only when no line about the setup (edit, name, confirm, cancel, sleep) comes next, and chooses
by itself only when no pick comes next. It leaves when all matches are played and the script has ended.

  edit own|other SLOT SHIP   put another ship into a slot (0 to 13) of a fleet; - empties it
  name own|other TEXT        rename a team
  confirm                    agree to both fleets        cancel   take it back
  pick SLOT|random           choose a ship
  input BITS [xFRAMES]       do this in the next frames: a number, or left+right+thrust+weapon+special+escape+down, or none
  died own|other|both        who has lost a ship in the next battle that ends (where checksums are echoed)
  reset [REASON]             leave the match: 2 (the default) as the user wishes, 1 out of step, 0 unspecified
  ping                       ask for a sign of life
  wait STATE                 until the machine comes to (or is in) that state
  wait frames N              until N more frames have been played
  sleep DURATION             for example 500ms or 2s
  quit                       close the connection        abort [REASON]   and say so
  auto                       confirm and choose by itself from here on, whatever lines come next
  # …                        a comment
`

// Script is the sequence of one side's actions.
type Script struct {
	file  string
	lines []line
}

// line is one line of a script.
type line struct {
	no   int
	text string
	verb string

	own    bool
	slot   netplay.Optional[netplay.Slot]
	ship   netplay.Ship
	name   netplay.Name
	bits   netplay.Input
	count  int // of frames
	died   verdict
	reason uint16
	state  netplay.State
	frames bool // wait frames, and not wait STATE
	span   time.Duration
}

// ParseScript reads a script. The error names all wrong lines, each with file and line.
func ParseScript(file, text string) (*Script, error) {
	s := &Script{file: file}
	var errs []error
	for i, raw := range strings.Split(text, "\n") {
		raw, _, _ = strings.Cut(raw, "#")
		words := strings.Fields(raw)
		if len(words) == 0 {
			continue
		}
		l := line{no: i + 1, text: strings.Join(words, " "), verb: words[0]}
		parse := verbs[words[0]]
		if parse == nil {
			errs = append(errs, fmt.Errorf("%s:%d: %q is no line of a script; there are %s", file, i+1,
				words[0], verbList))
			continue
		}
		if err := parse(&l, words[1:]); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %s: %w", file, i+1, l.text, err))
		}
		s.lines = append(s.lines, l)
	}
	return s, errors.Join(errs...)
}

const verbList = "edit, name, confirm, cancel, pick, input, died, reset, ping, wait, sleep, quit, abort, auto"

var verbs map[string]func(*line, []string) error

func init() {
	none := func(l *line, args []string) error { return arguments(args, 0, 0, "nothing") }
	verbs = map[string]func(*line, []string) error{
		"edit": parseEdit, "name": parseName, "pick": parsePick, "input": parseInput, "died": parseDied,
		"wait":  parseWait,
		"sleep": parseSleep, "reset": parseReason, "abort": parseReason,
		"confirm": none, "cancel": none, "ping": none, "quit": none, "auto": none,
	}
}

func arguments(args []string, least, most int, want string) error {
	if len(args) < least || len(args) > most {
		return fmt.Errorf("it is followed by %s", want)
	}
	return nil
}

func parseSide(l *line, s string) error {
	if s != "own" && s != "other" {
		return fmt.Errorf("%q: the team is own or other", s)
	}
	l.own = s == "own"
	return nil
}

func parseSlot(s string) (netplay.Slot, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n >= Slots {
		return 0, fmt.Errorf("%q: a slot is 0 to %d", s, Slots-1)
	}
	return netplay.Slot(n), nil
}

func parseEdit(l *line, args []string) error {
	if err := arguments(args, 3, 3, "own or other, a slot and a ship"); err != nil {
		return err
	}
	slot, err := parseSlot(args[1])
	if err := errors.Join(parseSide(l, args[0]), err); err != nil {
		return err
	}
	l.slot = netplay.Some(slot)
	l.ship, err = ParseShip(args[2])
	return err
}

func parseName(l *line, args []string) error {
	if err := arguments(args, 2, 30, "own or other and a name"); err != nil {
		return err
	}
	name := strings.Join(args[1:], " ")
	if strings.ContainsRune(name, 0) {
		return errors.New("a name has no zero byte")
	}
	var ok bool
	if l.name, ok = netplay.NewName(name); !ok {
		return fmt.Errorf("the name has %d bytes, 30 are the limit", len(name))
	}
	return parseSide(l, args[0])
}

func parsePick(l *line, args []string) error {
	if err := arguments(args, 1, 1, "a slot or random"); err != nil || args[0] == "random" {
		return err
	}
	slot, err := parseSlot(args[0])
	l.slot = netplay.Some(slot)
	return err
}

var inputNames = map[string]netplay.Input{"none": 0, "left": inputLeft, "right": inputRight, "thrust": inputThrust,
	"weapon": inputWeapon, "special": inputSpecial, "escape": inputEscape, "down": inputDown}

func parseInput(l *line, args []string) error {
	if err := arguments(args, 1, 2, "inputs and, if it is for more than one, xFRAMES"); err != nil {
		return err
	}
	l.count = 1
	if len(args) == 2 {
		n, err := strconv.Atoi(strings.TrimPrefix(args[1], "x"))
		if err != nil || args[1][0] != 'x' || n < 1 {
			return fmt.Errorf("%q: how many frames is x1, x2 and so on", args[1])
		}
		l.count = n
	}
	if n, err := strconv.ParseUint(args[0], 0, 8); err == nil {
		l.bits = netplay.Input(n)
		return nil
	}
	for name := range strings.SplitSeq(args[0], "+") {
		bit, ok := inputNames[name]
		if !ok {
			return fmt.Errorf("%q: an input is a number from 0 to 255 or of left, right, thrust, weapon, "+
				"special, escape, down, none, joined by +", name)
		}
		l.bits |= bit
	}
	return nil
}

func parseDied(l *line, args []string) error {
	if err := arguments(args, 1, 1, "own, other or both"); err != nil {
		return err
	}
	for v := ownDied; v <= bothDied; v++ {
		if verdictNames[v] == args[0] {
			l.died = v
			return nil
		}
	}
	return fmt.Errorf("%q: it is own, other or both", args[0])
}

func parseReason(l *line, args []string) error {
	if err := arguments(args, 0, 1, "a reason or nothing"); err != nil {
		return err
	}
	if l.reason = 2; l.verb == "abort" {
		l.reason = 0
	}
	if len(args) == 0 {
		return nil
	}
	n, err := strconv.ParseUint(args[0], 0, 16)
	if err != nil {
		return fmt.Errorf("%q: a reason is 0 to 65535", args[0])
	}
	l.reason = uint16(n)
	return nil
}

func parseWait(l *line, args []string) error {
	const want = "a state, or frames and their number"
	if err := arguments(args, 1, 2, want); err != nil {
		return err
	}
	if args[0] == "frames" {
		if err := arguments(args, 2, 2, "frames and their number"); err != nil {
			return err
		}
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fmt.Errorf("%q: how many frames is a number from 1 on", args[1])
		}
		l.frames, l.count = true, n
		return nil
	}
	if err := arguments(args, 1, 1, want); err != nil {
		return err
	}
	var names []string
	for l.state = netplay.StateUnconnected; l.state <= netplay.StateClosed; l.state++ {
		if l.state.String() == args[0] {
			return nil
		}
		names = append(names, l.state.String())
	}
	return fmt.Errorf("%q is no state; there are %s", args[0], strings.Join(names, ", "))
}

func parseSleep(l *line, args []string) error {
	if err := arguments(args, 1, 1, "a duration like 500ms or 2s"); err != nil {
		return err
	}
	var err error
	if l.span, err = time.ParseDuration(args[0]); err != nil || l.span < 0 {
		return fmt.Errorf("%q: a duration is like 500ms, 2s or 1m30s", args[0])
	}
	return nil
}
