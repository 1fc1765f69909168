package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/model"
)

// label is one or more events with the same outcome.
type label struct {
	events  []*model.Event
	when    string
	effects []string
	target  string // in notes: where it leads
	again   bool   // goto the same state
	tips    []string
}

// labels describes the branches of handlers. Branches that differ only in
// their event are joined; the order is that of the first of each.
func labels(branches []*model.Transition, o Options, targets bool) []label {
	var list []label
	index := map[string]int{}
	whole := complete(branches)
	for _, t := range branches {
		l := label{events: []*model.Event{t.Event}, when: guardText(t, o), effects: effects(t.Body, o),
			again: t.To == t.From}
		if o.Detail == Names && whole[t.Event] {
			l.when = ""
		}
		if targets && t.To != nil { // the note stands for many states
			l.target, l.again = t.To.Name, false
			if t.Resumes != nil {
				l.target = t.Resumes.Name + " (history)"
			}
		}
		l.tips = []string{tip(t)}
		key := fmt.Sprintf("%d|%s|%q|%s|%v", o.toneOf(t.Event), l.when, l.effects, l.target, l.again)
		if i, ok := index[key]; ok {
			if prev := &list[i]; prev.events[len(prev.events)-1] != t.Event {
				prev.events = append(prev.events, t.Event)
			}
			list[i].tips = append(list[i].tips, l.tips...)
			continue
		}
		index[key] = len(list)
		list = append(list, l)
	}
	return list
}

// complete finds the events whose branches are all in the list: whatever their
// guards say, they have their place here.
func complete(branches []*model.Transition) map[*model.Event]bool {
	count := map[*model.Event]int{}
	whole := map[*model.Event]bool{}
	for _, t := range branches {
		count[t.Event]++
		h := t.From.Handlers[t.Event.Index]
		whole[t.Event] = h != nil && len(h.Branches) > 1 && count[t.Event] == len(h.Branches) && t.When == nil
	}
	return whole
}

// tip is the whole branch and its place.
func tip(t *model.Transition) string {
	s := t.Name
	if t.When != nil {
		s += " [" + model.ExprString(t.When) + "]"
	}
	if len(t.Body) > 0 {
		s += " / " + strings.Join(allEffects(t.Body), ", ")
	}
	if t.To != nil {
		s += " → " + t.To.Name
	}
	if t.Doc != "" {
		s += "\n" + t.Doc
	}
	if !t.Span.IsZero() {
		s += "\n" + fmt.Sprintf("%s:%d", t.Span.File, t.Span.Start.Line)
	}
	return s
}

func allEffects(body []model.Stmt) []string { return effects(body, Options{Detail: Everything}) }

// guardText is a branch's guard. A branch without one behind others that have
// one is their else.
func guardText(t *model.Transition, o Options) string {
	if t.Resumes != nil {
		return ""
	}
	if t.When != nil {
		return "[" + condition(t.When, o) + "]"
	}
	if h := t.From.Handlers[t.Event.Index]; h != nil && len(h.Branches) > 1 {
		return "[else]"
	}
	return ""
}

// longest is the length of conditions beyond which they stand in a note, with a number in their place.
const longest = 100

// condition is a condition as a label has it: whole, or its number in the note.
func condition(e model.Expr, o Options) string {
	text := model.ExprString(e)
	if o.Detail == Everything || utf8.RuneCountInString(text) <= longest {
		return text
	}
	if o.long == nil {
		return shorten(text, longest)
	}
	i := slices.Index(*o.long, text)
	if i < 0 {
		i = len(*o.long)
		*o.long = append(*o.long, text)
	}
	return fmt.Sprintf("condition %d", i+1)
}

// effects lists what statements do, as far as o shows it.
func effects(body []model.Stmt, o Options) []string {
	if o.Detail == Names {
		return nil
	}
	var list []string
	for len(body) > 0 {
		calls := body[0].Base().Calls
		if len(calls) == 0 || o.Detail == Everything {
			list = append(list, effect(body[0], o)...)
			body = body[1:]
			continue
		}
		n := 1
		for n < len(body) && len(body[n].Base().Calls) > 0 && body[n].Base().Calls[0] == calls[0] {
			n++
		}
		if !calls[0].Action || o.flat { // else the state says it, or its frame
			list = append(list, routine(calls[0], body[:n], o)...)
		}
		body = body[n:]
	}
	return list
}

// written is how many effects of a routine are written out. Of more its name stands there, with what it sends.
const written = 3

// routine lists what a call of a routine does.
func routine(call *model.RoutineCall, body []model.Stmt, o Options) []string {
	all := func(o Options) (list []string) {
		for _, s := range body {
			list = append(list, effect(s, o)...)
		}
		return list
	}
	trial := o
	trial.long = nil // what is left out needs no number
	if call.Action || len(all(trial)) <= written {
		return all(o)
	}
	text := "do " + call.Name
	if heads := heads(body, nil); len(heads) > 0 {
		text += " (" + strings.Join(heads, ", ") + ")"
	}
	return []string{text}
}

// heads adds what leaves the machine in statements, each once: what is sent, without fields and guards.
func heads(body []model.Stmt, list []string) []string {
	for _, s := range body {
		text := ""
		switch s := s.(type) {
		case *model.Set:
			continue
		case *model.If:
			list = heads(s.Else, heads(s.Then, list))
			continue
		case *model.Each:
			if s.As != nil {
				list = heads([]model.Stmt{s.As}, list)
			} else {
				list = heads(s.Body, list)
			}
			continue
		case *model.Send:
			text = "send " + s.Message.Name
		default:
			text = strings.Join(effect(s, Options{Detail: Effects}), " ")
			if i := strings.IndexAny(text, "[{,"); i > 0 {
				text = text[:i]
			}
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

func effect(s model.Stmt, o Options) []string {
	short := func(text string) string {
		if o.Detail == Everything {
			return text
		}
		return shorten(text, 60)
	}
	switch s := s.(type) {
	case *model.Set:
		if o.Detail < Assignments {
			return nil
		}
		return []string{short(model.SetString(s))}
	case *model.Send:
		return []string{"send " + sendText(s, o)}
	case *model.ReportStmt:
		return []string{"report " + short(model.ReportString(s))}
	case *model.Run:
		return []string{"run " + short(model.RunString(s))}
	case *model.If:
		return perhaps(s, func(o Options) []string { return conditional(s, o) }, o)
	case *model.Each:
		if s.As != nil {
			return effect(s.As, o)
		}
		return perhaps(s, func(o Options) []string {
			return prefixed("for each "+s.Local.Name+": ", effects(s.Body, o))
		}, o)
	case *model.Refuse:
		return []string{"refuse"}
	}
	return []string{strings.TrimSuffix(strings.Replace(model.StmtString(s), ": ", " ", 1), ":")}
}

// sendText is a message and, behind it whole, to whom it goes if that is not the only peer.
func sendText(s *model.Send, o Options) string {
	message := *s
	message.Dest, message.To = model.ToPeer, nil
	text, to := model.SendString(&message), ""
	switch s.Dest {
	case model.ToSender:
		to = " to sender"
	case model.ToBroadcast:
		to = " to all"
	case model.ToExpr:
		to = " to " + model.ExprString(s.To)
	}
	if o.Detail == Everything {
		return text + to
	}
	if len(s.Fields) > 0 && utf8.RuneCountInString(text) > 48 {
		text = s.Message.Name + "{…}"
	}
	return text + shorten(to, 60)
}

func conditional(s *model.If, o Options) []string {
	then, otherwise := effects(s.Then, o), effects(s.Else, o)
	if len(then) == 0 && len(otherwise) == 0 {
		return nil
	}
	cond := condition(s.Cond, o)
	list := prefixed("if "+cond+": ", then)
	head := "else: "
	if len(list) == 0 {
		head = "unless " + cond + ": "
	}
	return append(list, prefixed(head, otherwise)...)
}

// maybe stands before what is done under conditions that are too long to be read in a picture.
const maybe = "maybe "

// perhaps is the list, or, of larger machines, what it does without its conditions if these are long.
func perhaps(s model.Stmt, list func(Options) []string, o Options) []string {
	if o.Detail == Effects {
		trial := o
		trial.long = nil // what is left out needs no number
		short := list(trial)
		if len(short) > 0 && utf8.RuneCountInString(strings.Join(short, ", ")) > 60 {
			return []string{maybe + strings.Join(heads([]model.Stmt{s}, nil), ", ")}
		}
	}
	return list(o)
}

func prefixed(head string, list []string) []string {
	if len(list) > 0 {
		list[0] = head + list[0]
	}
	return list
}

// shorten cuts text to about n characters, between words if there are any. Brackets and quotes that it opens and
// does not close any more are closed behind the cut, so that nothing reads as if it ended elsewhere.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:n-1])
	if i := strings.LastIndexByte(cut, ' '); i > n/2 {
		cut = cut[:i+1]
	}
	return cut + "…" + closing(cut)
}

// closing is what closes the brackets and quotes that a text opens.
func closing(text string) string {
	var open []rune
	for _, r := range text {
		last := rune(0)
		if len(open) > 0 {
			last = open[len(open)-1]
		}
		switch {
		case r == '"' && last == '"', r == last && last != 0:
			open = open[:len(open)-1]
		case last == '"': // a text may have brackets of its own
		case r == '"':
			open = append(open, '"')
		case strings.ContainsRune("{[(", r):
			open = append(open, []rune("}])")[strings.IndexRune("{[(", r)])
		}
	}
	slices.Reverse(open)
	return string(open)
}

// lines breaks a label at its joints into lines of about o.Width characters.
func (l label) lines(o Options) []line {
	w := wrapper{width: o.Width, tip: strings.Join(l.tips, "\n\n")}
	for i, e := range l.events {
		text := e.Name
		if i+1 < len(l.events) {
			text += ","
		}
		w.add(text, o.toneOf(e))
	}
	if l.when != "" {
		w.add(l.when, guard)
	}
	for i, e := range l.effects {
		if i+1 < len(l.effects) {
			e += ","
		}
		if i == 0 {
			e = "/ " + e
		}
		w.add(e, plain)
	}
	if l.target != "" {
		w.add("→ "+l.target, title)
	}
	if l.again {
		w.add("↻", faint)
	}
	return w.done()
}

// wrapper fills lines with words of different tones.
type wrapper struct {
	width int
	tip   string
	lines []line
	cur   []piece
	used  int
}

const indent = "   "

func (w *wrapper) add(text string, t tone) {
	n := utf8.RuneCountInString(text)
	if n > w.width && strings.Contains(text, " ") {
		w.words(text, t)
		return
	}
	switch {
	case w.used == 0:
	case w.used+1+n > w.width:
		w.flush()
		text = indent + text
		n += len(indent)
	default:
		text, n = " "+text, n+1
	}
	w.cur = append(w.cur, piece{text, t})
	w.used += n
}

// words adds a text that is longer than a line, broken between words.
func (w *wrapper) words(text string, t tone) {
	deeper := ""
	for text != "" {
		n := w.width
		if len(w.lines) > 0 || w.used > 0 {
			n -= len(indent) + len(deeper)
		}
		part := text
		if utf8.RuneCountInString(text) > n {
			part = string([]rune(text)[:n+1])
			if i := strings.LastIndexByte(part, ' '); i > 0 {
				part = part[:i]
			} else if i := strings.IndexByte(text, ' '); i > 0 {
				part = text[:i]
			} else {
				part = text
			}
		}
		text = strings.TrimPrefix(text[len(part):], " ")
		first := w.used == 0 && len(w.lines) == 0
		w.flush()
		if !first {
			part = indent + deeper + part
		}
		w.cur, w.used = []piece{{part, t}}, utf8.RuneCountInString(part)
		deeper = "  "
	}
}

func (w *wrapper) flush() {
	if w.used > 0 {
		w.lines = append(w.lines, line{pieces: w.cur, tip: w.tip})
		w.cur, w.used = nil, 0
	}
}

func (w *wrapper) done() []line {
	w.flush()
	return w.lines
}
