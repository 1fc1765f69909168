// Package cli holds what fsmgen and fsmviz share: exit codes, and the way an
// error ends a command. It knows nothing of protocols. Start from [Main].
package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/gen/diag"
)

// Exit codes of all commands.
const (
	ExitOK       = 0 // done, nothing to complain about
	ExitFindings = 1 // the input has errors, output is stale, a claim is violated, traffic deviates
	ExitUsage    = 2 // wrong flags or arguments, a file cannot be read or written
	ExitPartial  = 3 // a search ended before it was complete; what was found until then is reported
)

// Error carries an exit code with a message; an empty message prints nothing
// (what there was to say has been said).
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// Findings says that a command worked and found something: exit code 1, no
// message of its own.
func Findings() error { return &Error{Code: ExitFindings} }

// Rejected is how a command ends that was given a specification with errors: 1, or 2 if what was
// found is that one of the files named cannot be read at all, or is larger than any that is. A file
// that another one imports is that one's error.
func Rejected(found diag.List) error {
	if slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
		return (d.Code == "FSM001" || d.Code == "FSM002") && d.Span.Start.Line == 0
	}) {
		return &Error{Code: ExitUsage}
	}
	return Findings()
}

// Partial says that a search was not complete: exit code 3.
func Partial() error { return &Error{Code: ExitPartial} }

// Endless is the annotation of a command that has nothing to do when nobody reads its output: it
// ends then. The others finish what they write into files.
const Endless = "endless"

// Main runs root with the process's arguments and returns the exit code.
func Main(root *cobra.Command) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	out := &patient{to: os.Stdout}
	root.SetOut(out)
	valuesOnce(root)
	root.SetHelpCommand(helpCommand(root))
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if c.Annotations[Endless] == "" {
			signal.Ignore(syscall.SIGPIPE)
		}
		return checkNumbers(c)
	}
	return ended(root, root.Execute(), out.err)
}

// ended says what is wrong, if anything is, and returns the exit code. A command whose output could
// not be written has not done its work, be it that it did not look.
func ended(root *cobra.Command, err, unwritten error) int {
	var e *Error
	if unwritten != nil && (err == nil || errors.As(err, &e) && e.Message == "") {
		err = unwritten
	}
	if err == nil {
		return ExitOK
	}
	if errors.As(err, &e) {
		if e.Message != "" {
			fmt.Fprintf(os.Stderr, "%s: %s\n", root.Name(), diag.Visible(e.Message))
		}
		return e.Code
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", root.Name(), diag.Visible(Describe(err)))
	return ExitUsage
}
