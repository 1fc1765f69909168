package export

import (
	"fmt"
)

// Unsupported says that an output language cannot say what a check means, or not with bearable
// size.
type Unsupported struct {
	Check, Language, What string
}

func (e *Unsupported) Error() string {
	return fmt.Sprintf("check %s uses %s, which the export to %s cannot say", e.Check, e.What,
		e.Language)
}

// refusal travels from deep inside an expression to the top.
type refusal struct{ what string }

func refuse(format string, args ...any) { panic(refusal{fmt.Sprintf(format, args...)}) }
