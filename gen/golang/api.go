package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// API has the names of a generated package, for programs that write code which uses the package. Start
// from [NewAPI].
type API struct{ g *types.Gen }

// NewAPI returns the names of the package that Generate makes with the same arguments.
func NewAPI(p *model.Protocol, o base.Options) (api *API, err error) {
	defer func() {
		if u, ok := recover().(base.Unsupported); ok {
			api, err = nil, u
		}
	}()
	g := types.New(model.WithDefaultWire(p), o)
	g.Prepare()
	return &API{g}, nil
}

// Package returns the name of the package.
func (a *API) Package() string { return a.g.O.Package }

// ImportPath returns the path that imports the package.
func (a *API) ImportPath() string { return a.g.O.ImportPath }

func (a *API) role(name string) *types.Machine {
	for _, r := range a.g.Roles {
		if r.M.Name == name {
			return r
		}
	}
	return nil
}

// Runner returns the type of a role's runners, and the function that makes one.
func (a *API) Runner(role string) (typ, function string) {
	r := a.role(role)
	return r.Runner, a.g.Maker(r.Runner)
}

// Command returns the name of the runner's method for a command.
func (a *API) Command(role, command string) string {
	r := a.role(role)
	for i, name := range commandNames(r) {
		if r.M.Commands[i].Name == command {
			return name
		}
	}
	return ""
}

// Value returns a Go expression for a value. strs has the texts. A number is an untyped constant. A text
// is a call of the function text, which the user of the expression provides.
func (a *API) Value(t *model.Type, strs *interp.Strings, v []int64) string {
	switch t.Kind {
	case model.KindBool:
		return strconv.FormatBool(v[0] != 0)
	case model.KindBytes:
		return fmt.Sprintf("text(%s.%s(%q))", a.g.O.Package, a.g.Maker(a.g.Typ(t, "").Name), strs.Get(v[0]))
	case model.KindOptional:
		if v[0] == 0 {
			return a.typeName(t) + "{}"
		}
		return a.typeName(t) + "{Present: true, Value: " + a.Value(t.Elem, strs, v[1:]) + "}"
	case model.KindRecord:
		names := a.g.Typ(t, "").Fields
		list := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			list[i] = names[i] + ": " + a.Value(f.Type, strs, v[f.Offset:])
		}
		return a.typeName(t) + "{" + strings.Join(list, ", ") + "}"
	case model.KindArray:
		return a.typeName(t) + "{" + a.values(t.Elem, strs, v, int(t.Index.Count())) + "}"
	case model.KindList:
		return fmt.Sprintf("%s{Len: %d, Items: [%d]%s{%s}}", a.typeName(t), v[0], t.Cap, a.typeName(t.Elem),
			a.values(t.Elem, strs, v[1:], int(v[0])))
	}
	return strconv.FormatInt(v[0], 10)
}

func (a *API) values(t *model.Type, strs *interp.Strings, v []int64, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = a.Value(t, strs, v[i*t.Slots():])
	}
	return strings.Join(list, ", ")
}

// typeName returns the name of a type as other packages write it.
func (a *API) typeName(t *model.Type) string {
	gt := a.g.Typ(t, "")
	switch {
	case gt.Own:
		return a.g.O.Package + "." + gt.Name
	case t.Kind == model.KindOptional:
		return a.g.O.Package + ".Optional[" + a.typeName(t.Elem) + "]"
	case t.Kind == model.KindArray:
		return fmt.Sprintf("[%d]%s", t.Index.Count(), a.typeName(t.Elem))
	}
	return gt.Name
}
