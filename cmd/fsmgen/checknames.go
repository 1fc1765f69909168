package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/check"
)

// onlyFlag adds --check, which chooses checks.
func onlyFlag(f *pflag.FlagSet, only *check.Only, what string) {
	f.StringSliceVar((*[]string)(only), "check", nil, what+"; may be repeated, and takes a list")
}

// missingCheck is the error for a check that no specification has.
func missingCheck(only check.Only, reports []*check.SuiteReport) error {
	var names []string
	for _, r := range reports {
		for _, n := range r.Names {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no specification has a check %s%s", name, nearChecks(name, names))
		}
	}
	return nil
}

// maxNamed is how many checks an error lists.
const maxNamed = 20

func nearChecks(name string, names []string) string {
	if len(names) == 0 {
		return ": there are no checks"
	}
	text := "; there are " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) == 1 {
		text = "; there is only " + names[0]
	}
	if len(names) > maxNamed {
		text += fmt.Sprintf(" and %d more", len(names)-maxNamed)
	}
	if near := diag.DidYouMean(name, names); near != "" {
		text += "; " + near
	}
	return text
}
