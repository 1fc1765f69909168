package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/check"
)

// otherChecks says which checks there are where none has a name.
func otherChecks(name string, reports []*check.SuiteReport) string {
	var names []string
	for _, r := range reports {
		for _, n := range r.Names {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return nearChecks(name, names)
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
