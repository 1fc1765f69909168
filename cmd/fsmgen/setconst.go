package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
)

// unknownConst is the code of a constant to replace that a specification does not have.
const unknownConst = "FSM086"

// setConsts reads the values of --set.
func setConsts(set map[string]string) (map[string]int64, error) {
	consts := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		v, err := strconv.ParseInt(set[name], 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange) || v < -model.MaxConst || v > model.MaxConst:
			large := "large"
			if strings.HasPrefix(set[name], "-") {
				large = "small"
			}
			return nil, fmt.Errorf("--set %s=%s: it is too %s: a constant is within %d..%d", name, set[name],
				large, int64(-model.MaxConst), int64(model.MaxConst))
		case err != nil:
			return nil, fmt.Errorf("--set %s=%s: a constant is an integer", name, set[name])
		}
		consts[name] = v
	}
	return consts, nil
}

// unknownSet says which constants a specification has where --set names another, since no line of
// the specification is to blame. It is nil if that is not what list is about.
func unknownSet(spec string, set map[string]string, list diag.List) error {
	if len(set) == 0 || !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == unknownConst }) {
		return nil
	}
	p, _ := compile.Load(spec, compile.Options{})
	if p == nil {
		return nil // it has errors of its own
	}
	var names []string
	for _, c := range p.Consts {
		names = append(names, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if slices.Contains(names, name) {
			continue
		}
		there := "; it has none"
		if len(names) > 0 {
			there = "; it has " + strings.Join(names, ", ")
		}
		if near := diag.Nearest(name, names); near != "" && len(names) > 1 {
			there += "; did you mean " + near + "?"
		}
		return fmt.Errorf("--set %s=%s: %s has no constant %s%s", name, set[name], spec, name, there)
	}
	return nil
}

// unfit says that a check was not run, and why.
func unfit(x check.Unfit) string {
	return fmt.Sprintf("check %s was not run, since --set does not fit it: %s", x.Check, diag.Visible(x.Why))
}
