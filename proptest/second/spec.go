package second

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/proptest/second/machine"
)

// Spec is a specification with what it extends written out.
type Spec struct{ root *ast.Node }

// Load reads a specification. It believes that `fsmgen vet` has nothing to say of it: an error of the
// author's is an error here without a place, or none.
func Load(file string) (*Spec, error) {
	root, err := machine.Tree(file, 0)
	if err != nil {
		return nil, err
	}
	return &Spec{root}, nil
}

// Checks returns the names of the checks, in the order written.
func (s *Spec) Checks() []string { return s.root.Get("checks").Keys() }
