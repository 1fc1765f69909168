package main

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/proptest/explore"
)

// parseReduce reads the flag --reduce.
func parseReduce(list string) (explore.Reduction, error) {
	var out explore.Reduction
	for _, name := range strings.Split(list, ",") {
		switch name {
		case "none", "":
		case "auto":
			out |= explore.ReduceSymmetry
		case "symmetry":
			out |= explore.ReduceSymmetry
		default:
			return 0, fmt.Errorf("--reduce %s: there is no reduction %q; there are none, auto, symmetry", list, name)
		}
	}
	return out, nil
}
