// Command fsmviz draws protocols: each machine of a specification as a state
// diagram, a run as a sequence chart. Flags and files are its business; what a
// picture shows is decided in gen/graph. Start from [command].
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/graph"
)

func main() { os.Exit(execute()) }

func execute() int { return cli.Main(command()) }

// options are the flags.
type options struct {
	roles            []string
	format, out      string
	collapse, full   bool
	unfold, noLegend bool
	parts            bool
	seq              bool
	merge            bool
	steps            string
	live             bool
	http             string
}

const long = `fsmviz draws the machines of specifications as state diagrams:

  fsmviz spec.yaml                       each role as DOT, to standard output
  fsmviz spec.yaml -o pictures/          each role as SVG, into a folder
  fsmviz spec.yaml --role peer -o a.png  one role, in the format of the file's ending

or, with --seq, a run as a sequence chart: a run in JSON, as the checker
writes its counterexamples, or a record of a real one:

  fsmviz --seq run.jsonl                 as text
  fsmviz --seq run.json -o pictures/     as SVG, into a folder
  fsmviz --seq run.jsonl --steps 1-40 -o run.svg
  fsmviz --seq --merge a.jsonl b.jsonl   what two machines recorded, as one chart

or, with --live, machines while they run: a page for a browser that follows the
records which they write:

  fsmviz --live spec.yaml a.jsonl b.jsonl

It shows where each machine is in its diagram, its variables and running timers, and
the last steps. Files that are not there yet are waited for; - is standard input.
Ctrl-C ends it with exit code 0.

No other program is needed; DOT is for those who want Graphviz to lay a machine out.
Pointing at anything in an SVG shows its place in the specification. Beside a role
stand the monitors that watch it in checks.

Exit codes: 0 drawn; 1 the specification or the run has errors; 2 wrong flags, or a
file that cannot be read or written.`

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "fsmviz SPEC…",
		Short: "Draw state machines and runs of protocols",
		Long:  long,
		Args:  cli.Args(true, "a specification (or, with --seq, a run)"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.live {
				return showLive(c, args, o)
			}
			if c.Flags().Changed("http") {
				return usage("--http goes with --live")
			}
			w := &writer{stdout: c.OutOrStdout(), stderr: c.ErrOrStderr(), out: o.out}
			if o.seq {
				return drawRuns(w, args, o)
			}
			return drawSpecs(w, args, o)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.roles, "role", nil, "draw only this `role` (may be given several times)")
	f.StringVar(&o.format, "format", "", "dot, svg, png, mermaid; with --seq text, svg, png, mermaid, json "+
		"(default: by the ending of -o; into a folder svg, else dot or text)")
	f.StringVarP(&o.out, "out", "o", "", "`file`, or folder with a / at its end, to write to (default: "+
		"standard output)")
	f.BoolVar(&o.collapse, "collapse", false, "events and guards only, as big machines are shown anyway")
	f.BoolVar(&o.full, "full", false, "everything: assignments too, and nothing shortened")
	f.BoolVar(&o.unfold, "unfold", false, "draw what many states do alike in each of them, not in a note")
	f.BoolVar(&o.noLegend, "no-legend", false, "leave out the explanation of the colours")
	f.BoolVar(&o.parts, "parts", false, "draw the machines that run inside the roles, too")
	f.BoolVar(&o.seq, "seq", false, "the arguments are runs: draw sequence charts")
	f.BoolVar(&o.merge, "merge", false, "with --seq: the records are those of machines that talked to each "+
		"other; draw them as one run")
	f.StringVar(&o.steps, "steps", "", "with --seq, the `lines` of a record to draw, as 1-200 (default: the first 200)")
	f.BoolVar(&o.live, "live", false, "the arguments are a specification and records that grow: show the machines "+
		"while they run")
	f.StringVar(&o.http, "http", "127.0.0.1:0", "with --live, the `address` of the page; port 0: any that is free")
	c.MarkFlagsMutuallyExclusive("collapse", "full")
	return c
}

// graphOptions are the options of pictures of machines.
func (o options) graphOptions() graph.Options {
	g := graph.Options{Unfold: o.unfold, NoLegend: o.noLegend}
	switch {
	case o.collapse:
		g.Detail = graph.Names
	case o.full:
		g.Detail = graph.Everything
	}
	return g
}
