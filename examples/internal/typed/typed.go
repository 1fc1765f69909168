// Package typed is for programs in whose terminals people type: what is shown there of others, and what is said when a
// command cannot be done. It knows no protocol. Start from [Clean].
package typed

import (
	"errors"
	"strings"
	"unicode"

	"github.com/parley-go/parley/runtime/driver"
)

// Clean makes of a text what can be shown: whatever moves a terminal's cursor, or is no character, is replaced.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// Answer says what a driver's error about a command means to who has typed it; nil if there is none.
func Answer(err error) error {
	var refused *driver.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == driver.Refused:
		return errors.New("not now")
	case errors.Is(err, driver.ErrStopped):
		return errors.New("the connection is over")
	}
	return err
}
