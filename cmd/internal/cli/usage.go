package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-go/parley/gen/diag"
)

// Args accepts at least as many arguments as there are names, which say what each one is; more of the
// last one only if more is true.
func Args(more bool, names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		use := "; write: " + c.CommandPath() + strings.TrimPrefix(c.Use, c.Name())
		switch {
		case len(args) < len(names):
			return &Error{ExitUsage, strings.Join(names[len(args):], " and ") + missing(len(names)-len(args)) + use}
		case len(args) > len(names) && !more:
			return &Error{ExitUsage, fmt.Sprintf("%q is too much%s", args[len(names)], use)}
		}
		return nil
	}
}

func missing(n int) string {
	if n == 1 {
		return " is missing"
	}
	return " are missing"
}

// SpecFile is the file that an argument stands for: itself, the spec.yaml in a folder, or the only
// file that a pattern matches.
func SpecFile(arg string) (string, error) {
	if arg == "" {
		return "", &Error{ExitUsage, "the name of a specification is empty"}
	}
	info, err := os.Stat(arg)
	if err != nil && strings.ContainsAny(arg, "*?[") {
		names, _ := filepath.Glob(arg)
		switch len(names) {
		case 0:
			return "", &Error{ExitUsage, "no file matches " + arg}
		case 1:
			return SpecFile(names[0])
		}
		return "", &Error{ExitUsage, fmt.Sprintf("%s matches %d files, such as %s and %s; name one", arg,
			len(names), names[0], names[1])}
	}
	if err != nil {
		return "", &Error{ExitUsage, fmt.Sprintf("%s cannot be read: %s", arg, Reason(err))}
	}
	if !info.IsDir() {
		return arg, nil
	}
	file := filepath.Join(arg, "spec.yaml")
	if _, err := os.Stat(file); err != nil {
		return "", &Error{ExitUsage, fmt.Sprintf("%s is a folder without a spec.yaml; name a file", arg)}
	}
	return file, nil
}

// flagError says in words what value a flag needs, or which flag may have been meant.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return unknownFlag(c, unknown, err)
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	var again *twice
	if errors.As(bad.Unwrap(), &again) {
		return fmt.Errorf("--%s %s: it takes one value, and %s was given before", bad.GetFlag().Name, again.second,
			again.first)
	}
	needs := map[string]string{
		"int": "a whole number", "uint": "a whole number", "uint64": "a whole number", "uintSlice": "a whole number",
		"duration": "a time with its unit (30s, 5m)", "stringToString": "NAME=VALUE", "bool": "true or false",
	}[bad.GetFlag().Value.Type()]
	if needs == "" {
		return err
	}
	return fmt.Errorf("--%s %s: %s is needed", bad.GetFlag().Name, bad.GetValue(), needs)
}

// once is the value of a flag that takes one. A second one would replace the first unseen.
type once struct {
	pflag.Value
	given *string
}

// Set implements [pflag.Value].
func (v *once) Set(text string) error {
	if v.given != nil && *v.given != text {
		return &twice{*v.given, text}
	}
	v.given = &text
	return v.Value.Set(text)
}

// twice is the error for the second of two values of such a flag.
type twice struct{ first, second string }

func (e *twice) Error() string { return "" } // see flagError

// valuesOnce lets no flag of a command be given twice with different values, but those that take
// several.
func valuesOnce(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch _, several := f.Value.(pflag.SliceValue); {
		case several, f.Value.Type() == "stringToString", f.Value.Type() == "bool":
		default:
			f.Value = &once{Value: f.Value}
		}
	})
	for _, sub := range c.Commands() {
		valuesOnce(sub)
	}
}

// unknownFlag names the flag of the command that is nearest.
func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError, err error) error {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := diag.Nearest(unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return err
}

// helpCommand explains a command, and refuses what is none.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) > 0:
				return &Error{ExitUsage, fmt.Sprintf("%s has no command %q", c.CommandPath(), rest[0])}
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// workersPerCore is how many goroutines of a search a core may have. More than one gains nothing,
// but a script may name a number for a larger machine.
const workersPerCore = 64

func tooMany(workers string) bool {
	n, err := strconv.ParseInt(workers, 10, 64)
	return err == nil && n > int64(workersPerCore*runtime.NumCPU())
}

// checkNumbers refuses numbers that mean nothing: flags count, measure or bound something, so none is
// negative, and a bound of nothing at all is none.
func checkNumbers(c *cobra.Command) error {
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		negative, zero := false, false
		switch f.Value.Type() {
		case "int", "uint64":
			negative, zero = strings.HasPrefix(value, "-"), value == "0" && strings.HasPrefix(f.Name, "max-")
		case "duration":
			d, _ := time.ParseDuration(value) // it is one
			negative = d < 0
		}
		switch {
		case zero:
			err = &Error{ExitUsage, fmt.Sprintf("--%s 0: a number greater than 0 is needed", f.Name)}
		case f.Name == "workers" && tooMany(value):
			err = &Error{ExitUsage,
				fmt.Sprintf("--workers %s: more than the cores of this machine can use only cost time; %d "+
					"is the most (%d for each of %d)", value, workersPerCore*runtime.NumCPU(), workersPerCore,
					runtime.NumCPU())}
		case negative:
			err = &Error{ExitUsage, fmt.Sprintf("--%s %s: it cannot be negative", f.Name, value)}
		}
	})
	return err
}
