package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/run"
)

// Of writes a run as a scenario, with what comes of its steps: every step has a line, and the end is
// that of the run. The error says why there is no such scenario.
func Of(r *run.Run, load Load) (text string, err error) {
	lines, why := r.Scenario()
	if why != "" {
		return "", errors.New(why)
	}
	got, _, err := Run([]Block{{Line: 1, Head: remarks(r), Input: lines}}, load)
	if err != nil {
		return "", err
	}
	if err := ends(r, strings.Split(got[0].Want, "\n")); err != nil {
		return "", err
	}
	return Format(got), nil
}

// remarks say what the scenario shows.
func remarks(r *run.Run) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimPrefix(r.Problem, "✗ "), "\n") {
		out = append(out, "# "+strings.TrimSpace(line))
	}
	return out
}

// ends says where a scenario does not end as its run does.
func ends(r *run.Run, told []string) error {
	if n := len(r.Steps); n > 0 && r.Steps[n-1].Fault != "" {
		at := len(told) - len(r.Instances) - 1
		for ; at >= 0; at-- {
			if slices.ContainsFunc([]string{"refused: ", cannotSend, sendsTo, noFrame}, func(s string) bool {
				return strings.Contains(told[at], s)
			}) {
				return nil // what there is then is what there was before
			}
		}
		return fmt.Errorf("the last step is an error, and the scenario has none: %s", r.Steps[n-1].Fault)
	}
	for _, line := range r.End {
		who, what, ok := strings.Cut(line, ": ")
		if !ok || !slices.ContainsFunc(r.Instances, func(x run.Instance) bool { return x.Name == who }) {
			continue
		}
		state, _, _ := strings.Cut(what, "{")
		if !slices.ContainsFunc(told, func(l string) bool { return strings.HasPrefix(l, who+": "+state) }) {
			return fmt.Errorf("the run ends with %s, the scenario does not", line)
		}
	}
	return nil
}
