package run

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A statement of a trail: the step it belongs to, the process and its number, and the line of the
// model.
var trailLine = regexp.MustCompile(`^\s*(\d+):\s+proc\s+(\d+) \([^)]*\) \S+:(\d+) \(state`)

// The forms of the note with which an exported model begins what is one step.
var (
	noteMessage = regexp.MustCompile(`^a message from (.+?)(, which arrives again| is lost|, where nobody is)?(: \w+)?( in \w+)?$`)
	noteTimer   = regexp.MustCompile(`^(\S+) expires`)
	noteCommand = regexp.MustCompile(`^(\w+) (.+?)(, [^,]*:\d+)?$`)
)

// ReadTrail reads a trail that Spin has found in an exported model, as `spin -t -p` prints it. The
// instances are those of the check, in its order, which is that of Spin's processes. A step has its
// Kind, Who, From and the Event of a command or timer; the process that watches the claims moves
// nobody and is left out.
func ReadTrail(model, trail string, instances []Instance) (*Run, error) {
	notes := strings.Split(model, "\n")
	r := &Run{Instances: instances}
	last := ""
	for _, text := range strings.Split(trail, "\n") {
		m := trailLine.FindStringSubmatch(text)
		if m == nil || m[1] == last {
			continue
		}
		last = m[1]
		who, _ := strconv.Atoi(m[2])
		line, _ := strconv.Atoi(m[3])
		if who >= len(instances) {
			continue
		}
		note := ""
		for i := min(line, len(notes)); i > 0 && note == ""; i-- {
			if _, after, ok := strings.Cut(notes[i-1], ":: d_step { /* "); ok {
				note, _, _ = strings.Cut(after, " */")
			}
		}
		s, err := r.noted(who, note)
		if err != nil {
			return nil, fmt.Errorf("step %s of the trail: %w", m[1], err)
		}
		r.Steps = append(r.Steps, s)
	}
	return r, nil
}

// noted returns the step that a note of the model tells.
func (r *Run) noted(who int, note string) (Step, error) {
	s := Step{Who: who, From: Nobody}
	if m := noteMessage.FindStringSubmatch(note); m != nil {
		var err error
		s.From, err = r.named(m[1], false)
		s.Kind = map[string]Kind{"": Message, ", which arrives again": Copy, " is lost": Lost,
			", where nobody is": Drop}[m[2]]
		return s, err
	}
	if m := noteTimer.FindStringSubmatch(note); m != nil {
		s.Kind, s.Event = Timer, m[1]
		return s, nil
	}
	if kind := (map[string]Kind{"somebody comes": Come, "who has ended goes": Go})[note]; kind != "" {
		s.Kind = kind
		return s, nil
	}
	if note == "start" {
		s.Kind, s.Event = Start, note
		return s, nil
	}
	if m := noteCommand.FindStringSubmatch(note); m != nil {
		s.Kind, s.Event = Command, m[2]
		return s, nil
	}
	return s, fmt.Errorf("no step is noted as %q", note)
}
