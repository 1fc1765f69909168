package check

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/system"
)

// System is a check as a system of the explorer, together with what it takes to report results in
// the author's words.
type System struct{ *system.Machines }

// Claim is a claim in the explorer's form.
type Claim = system.Claim

// MaxArguments is the greatest number of argument tuples of a command in a check.
const MaxArguments = system.MaxArguments

// New builds the system of a check. p must have been compiled for this check (its consts and domains
// applied). It fails if a command has too many arguments or an environment
// rule cannot be turned into channel lengths.
func New(p *model.Protocol, c *model.Check) (*System, error) { return Between(p, c, nil) }

// Crossing says what a message is to who receives it, where not all keep to the same specification.
type Crossing = system.Crossing

// Between is New for instances between which messages may change their meaning; see [system.Between].
func Between(p *model.Protocol, c *model.Check, x Crossing) (*System, error) {
	m, err := system.Between(p, c, x)
	if err != nil {
		return nil, err
	}
	return &System{m}, nil
}
