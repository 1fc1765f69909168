package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Happening is something that the program of an instance sees or does: it gives a command, or it is
// told a report. Command or Report is set.
type Happening struct {
	Command *model.Event
	Report  *model.Report
}

// Name is the name of the command or report.
func (h Happening) Name() string {
	if h.Report != nil {
		return h.Report.Name
	}
	return h.Command.Name
}

// Fields are those of the command or report.
func (h Happening) Fields() []*model.Field {
	if h.Report != nil {
		return h.Report.Fields
	}
	return h.Command.Fields
}

// Ghost is a variable that a check adds to a role, so that claims can speak of what was: an auxiliary
// variable, which the machine sets and never looks at (Owicki, Gries 1976).
type Ghost struct {
	Var *model.Var
	// Of is what happens, and so sets the variable.
	Of Happening
	// Field says that the variable holds the last value of this field; nil: of something else.
	Field *model.Field
	// Ends are what the happening waits for: the variable is true from it to one of them. Empty:
	// the variable counts, as far as its type goes.
	Ends []Happening
}

// Ghosts are the variables that a check adds to its roles, by the names of the role.
type Ghosts struct{ by map[*Names][]*Ghost }

// NewGhosts returns an empty set.
func NewGhosts() *Ghosts { return &Ghosts{map[*Names][]*Ghost{}} }

// Of lists the ghosts of a role in the order in which claims ask for them.
func (g *Ghosts) Of(ro *Names) []*Ghost { return g.by[ro] }

// Count is the variable that counts a happening, up to most at least.
func (g *Ghosts) Count(ro *Names, h Happening, most int64) *model.Var {
	x := g.find(ro, Ghost{Of: h}, h.word())
	if x.Var.Type == nil {
		t := *types.Int(0, most)
		x.Var.Type = &t
	}
	x.Var.Type.Hi = max(x.Var.Type.Hi, most)
	return x.Var
}

// Last is the variable with the last value of a field, none before the first.
func (g *Ghosts) Last(ro *Names, h Happening, f *model.Field) *model.Var {
	x := g.find(ro, Ghost{Of: h, Field: f}, "last "+h.Name()+" "+f.Name)
	if x.Var.Type = f.Type; f.Type.Kind != model.KindOptional {
		x.Var.Type = types.Optional(f.Type)
	}
	return x.Var
}

// Pending is the variable that is true from a happening to one of others.
func (g *Ghosts) Pending(ro *Names, h Happening, ends []Happening) *model.Var {
	x := g.find(ro, Ghost{Of: h, Ends: ends}, "pending "+h.Name())
	x.Var.Type, x.Var.Kept = types.Bool, false
	return x.Var
}

func (h Happening) word() string {
	if h.Report != nil {
		return "reported " + h.Report.Name
	}
	return "commanded " + h.Command.Name
}

// find returns the ghost that is like x, which it adds under a free name if there is none.
func (g *Ghosts) find(ro *Names, x Ghost, name string) *Ghost {
	for _, y := range g.by[ro] {
		if y.Of == x.Of && y.Field == x.Field && slices.Equal(y.Ends, x.Ends) {
			return y
		}
	}
	var text strings.Builder
	for i, w := range strings.Fields(name) {
		first, n := utf8.DecodeRuneInString(w)
		if i > 0 {
			first = unicode.ToUpper(first)
		}
		text.WriteRune(first)
		text.WriteString(w[n:])
	}
	name = text.String()
	taken := func(name string) bool {
		return ro.Values[name] != nil ||
			slices.ContainsFunc(g.by[ro], func(y *Ghost) bool { return y.Var.Name == name })
	}
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s%d", text.String(), n)
	}
	kind := model.GhostOfCommands
	if x.Of.Report != nil || len(x.Ends) > 0 {
		kind = model.GhostOfReports
	}
	x.Var = &model.Var{Name: name, Ghost: kind, Kept: true, Span: ro.Machine.Span}
	g.by[ro] = append(g.by[ro], &x)
	return &x
}
