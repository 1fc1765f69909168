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
		Short: "Explain the code of a diagnostic, or list all codes",
		Long: `Explain prints what a code such as FSM021 means, what to do about it, and an
example that causes it. Without a code it lists all.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				for _, i := range diag.Codes() {
					fmt.Fprintf(out, "%s  %s\n", i.Code, i.Title)
				}
				return nil
			}
			for n, a := range args {
				i, ok := diag.Lookup(fullCode(a))
				if !ok {
					var codes []string
					for _, c := range diag.Codes() {
						codes = append(codes, c.Code)
					}
					hint := ""
					if near := diag.DidYouMean(a, codes); near != "" {
						hint = "; " + near
					}
					return &cli.Error{Code: cli.ExitUsage, Message: fmt.Sprintf("there is no code %s%s", a, hint)}
				}
				if n > 0 {
					fmt.Fprintln(out)
				}
				fmt.Fprint(out, i.Explain())
			}
			return nil
		},
	}
}

// fullCode is the code that somebody means who writes it in lower case or only its number.
func fullCode(s string) string {
	if n, err := strconv.ParseUint(s, 10, 16); err == nil {
		return fmt.Sprintf("FSM%03d", n)
	}
	return strings.ToUpper(s)
}
