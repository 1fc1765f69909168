package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/diag"
)

func init() { commands = append(commands, explainCommand) }

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Explain the code of a diagnostic or a built-in claim, or list them all",
		Long: `Explain prints what a code such as FSM021 means, what to do about it, and an
example that causes it; or what a claim that every check makes, such as deadlock, means. Without a code it lists all.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				for _, i := range diag.Codes() {
					fmt.Fprintf(out, "%s  %s\n", i.Code, i.Title)
				}
				fmt.Fprintln(out)
				for _, c := range builtinClaims {
					fmt.Fprintf(out, "%s  %s\n", c.name, c.title)
				}
				return nil
			}
			for n, a := range args {
				text, ok := explainClaim(a)
				if !ok {
					i, known := diag.Lookup(fullCode(a))
					if !known {
						return noCode(a)
					}
					text = i.Explain()
				}
				if n > 0 {
					fmt.Fprintln(out)
				}
				fmt.Fprint(out, text)
			}
			return nil
		},
	}
}

// noCode says what somebody may have meant, and where all codes are.
func noCode(name string) error {
	names := claimNames()
	for _, c := range diag.Codes() {
		names = append(names, c.Code)
	}
	hint := ""
	if near := diag.DidYouMean(name, names); near != "" {
		hint = near + " "
	}
	return &cli.Error{Code: cli.ExitUsage,
		Message: fmt.Sprintf("there is no code %s; %s`fsmgen explain` lists all codes and the claims that "+
			"every check makes", name, hint)}
}

// fullCode is the code that somebody means who writes it in lower case or only its number.
func fullCode(s string) string {
	if n, err := strconv.ParseUint(s, 10, 16); err == nil {
		return fmt.Sprintf("FSM%03d", n)
	}
	return strings.ToUpper(s)
}
