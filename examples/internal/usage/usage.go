// Package usage is how the examples answer a command line: with one line that says what is wrong,
// how to get help, and exit code 2.
//
// It knows no program's flags. Start from [Parse].
package usage

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Parse parses the arguments of a program that takes flags alone. If done, the program ends with
// the code: 0 after -help, which explains the flags on stdout, and 2 where something is wrong.
func Parse(f *flag.FlagSet, args []string, stdout, stderr io.Writer) (code int, done bool) {
	f.SetOutput(io.Discard) // package flag would print all flags under each error
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "usage: %s [flags]\n", f.Name())
		f.SetOutput(stdout)
		f.PrintDefaults()
		return 0, true
	case err != nil:
		return Wrong(f, stderr, err), true
	case f.NArg() > 0:
		return Wrong(f, stderr, fmt.Errorf("unexpected argument %q: there are flags only", f.Arg(0))), true
	}
	return 0, false
}

// Wrong says what is wrong with a command line, and returns the exit code.
func Wrong(f *flag.FlagSet, stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "%s: %v\nusage: %[1]s [flags]; %[1]s -help explains them\n", f.Name(), err)
	return 2
}

// Given are the names of the flags on the command line, in the order of the alphabet.
func Given(f *flag.FlagSet) (names []string) {
	f.Visit(func(g *flag.Flag) { names = append(names, g.Name) })
	return names
}

// NotNegative refuses flags, durations and numbers, that are below 0.
func NotNegative(f *flag.FlagSet, names ...string) error {
	for _, name := range names {
		negative := false
		switch v := f.Lookup(name).Value.(flag.Getter).Get().(type) {
		case time.Duration:
			negative = v < 0
		case int:
			negative = v < 0
		}
		if negative {
			return fmt.Errorf("-%s %s: it is not negative", name, f.Lookup(name).Value)
		}
	}
	return nil
}

// Without refuses flags on the command line that have no meaning beside another one ("-link udp"):
// what they are for says which.
func Without(f *flag.FlagSet, beside string, names ...string) error {
	for _, g := range Given(f) {
		if slices.Contains(names, g) {
			return fmt.Errorf("-%s has no meaning with %s; it is for %s", g, beside, f.Lookup(g).Usage)
		}
	}
	return nil
}

// Only refuses all flags on the command line but those that have a meaning beside another one.
func Only(f *flag.FlagSet, beside string, names ...string) error {
	for _, g := range Given(f) {
		if !slices.Contains(names, g) {
			return fmt.Errorf("-%s has no meaning with %s, with which there are -%s", g, beside,
				strings.Join(names, ", -"))
		}
	}
	return nil
}
