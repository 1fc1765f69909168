package wire

import (
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/apart"
)

// What may follow an item that only the bytes behind it end.

// tight sees to it that what follows white space begins with none.
func (r *resolver) tight(items []model.WireItem) {
	for i, item := range items {
		space, ok := item.(*model.WireSpace)
		if !ok {
			continue
		}
		var next [256]bool
		if known := i+1 < len(items) && apart.Begin(items[i+1:i+2], &next); !known || next[' '] || next['\t'] {
			if t, text := after(items, i).(*model.WireBytes); text && t.End != "" {
				if t.Tight = true; !strings.ContainsAny(t.End[:1], " \t") {
					continue
				}
			}
			r.Errorf("FSM074", space.Span, "what follows may begin with white space itself, and nobody could tell "+
				"where it begins").With("let a number in digits, a word, a constant or a text with an end follow")
			return
		}
	}
}

// runs sees that what follows a run of bytes begins with another one. Of what follows the list of items nothing is
// said.
func (r *resolver) runs(items []model.WireItem) {
	for i, item := range items {
		run, ok := item.(*model.WireRun)
		if !ok || i+1 == len(items) {
			continue
		}
		var next [256]bool
		if known := apart.Begin(items[i+1:i+2], &next); known && !next[run.Byte] {
			continue
		}
		r.Errorf("FSM074", run.Span, "what follows may begin with the byte %d itself, and would be read as part of "+
			"the run", run.Byte).With("let a constant or a word with another first byte follow, or count the bytes: " +
			"`count f: u16`, `f: counted`")
		return
	}
}

// after returns the item behind another one, nil if there is none.
func after(items []model.WireItem, i int) model.WireItem {
	if i+1 < len(items) {
		return items[i+1]
	}
	return nil
}

// prefixes reports words without an end of which one begins another, if the bytes behind the shorter one could
// make it the longer one.
func (r *resolver) prefixes(items []model.WireItem) {
	for i, item := range items {
		it, ok := item.(*model.WireWord)
		if !ok || it.End != "" {
			continue
		}
		words := it.Field.Type.InLine()
		for v, short := range words {
			for _, long := range words {
				if short == long || !strings.HasPrefix(long, short) {
					continue
				}
				var next [256]bool
				known := i+1 < len(items) && apart.Begin(behind(items[i+1], it, int64(v)), &next)
				if known && !next[long[len(short)]] {
					continue
				}
				r.Errorf("FSM074", it.Span, "the word %q is also the beginning of %q, and what follows it may go on "+
					"with %q", short, long, long[len(short):]).
					See(it.Field.Span, "declared here").
					With("let a number in digits, a constant or a word with other bytes follow, or give the words an " +
						"end: `{as: word, end: \" \"}`")
				return
			}
		}
	}
}

// behind returns the items that follow a word of a value.
func behind(next model.WireItem, word *model.WireWord, v int64) []model.WireItem {
	c, ok := next.(*model.WireCase)
	if !ok || c.Tag != word.Field {
		return []model.WireItem{next}
	}
	for _, b := range c.Branches {
		for _, of := range b.Values {
			if of == v {
				return b.Items
			}
		}
	}
	return nil
}

// endNames are the names for bytes that end something.
var endNames = map[string]string{"crlf": "\r\n", "lf": "\n", "cr": "\r"}

// lineEnd returns the name of the line end that a text may mean: CRLF, \r\n, cr lf.
func lineEnd(text string) string {
	name := strings.NewReplacer("\\r", "cr", "\\n", "lf", " ", "", "+", "", "_", "", "-", "").
		Replace(strings.ToLower(text))
	if name == "newline" {
		name = "lf"
	}
	if endNames[name] == "" {
		return ""
	}
	return name
}
