package export

import (
	"fmt"
)

// Unsupported is the error for a check that an output language cannot express, or only with a model that
// is far too large.
type Unsupported struct {
	Check, Language, What string
}

func (e *Unsupported) Error() string {
	return fmt.Sprintf("check %s uses %s, which the export to %s cannot say", e.Check, e.What,
		e.Language)
}

// refusal is the panic that ends an export. Promela recovers from it.
type refusal struct{ what string }

func refuse(format string, args ...any) { panic(refusal{fmt.Sprintf(format, args...)}) }
