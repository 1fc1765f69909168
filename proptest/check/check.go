package check

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/system"
)

// System is a check as a system of the explorer, with what is needed to
// tell its results in the author's words.
type System struct{ *system.Machines }

// Claim is one claim as the explorer sees it.
type Claim = system.Claim

// MaxArguments is how many argument tuples a command may have in a check.
const MaxArguments = system.MaxArguments

// New builds the system of a check. p must have been compiled for this check (its consts and domains
// applied). It fails if a command has too many arguments or an environment
// rule cannot be turned into channel lengths.
func New(p *model.Protocol, c *model.Check) (*System, error) {
	m, err := system.New(p, c)
	if err != nil {
		return nil, err
	}
	return &System{m}, nil
}
