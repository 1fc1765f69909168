package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/dissect"
	"github.com/parley-go/parley/gen/export"
	"github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
)

func init() { commands = append(commands, exportCommand) }

const exportLong = `Export writes a specification for another program, to standard output or the file of -o.

  promela    one check as a model for Spin (spin is the same); with reductions off Spin visits the same configurations as fsmgen check
  tla        one check as a module of TLA+ (tlc is the same),
	with -o also the configurations for TLC beside it: the same, with faults, time and hostile instances, too
  mermaid    a role as a state diagram for pages that show Mermaid (--role; runs: fsmviz --seq --format mermaid)
  json       everything that the specification says, checked and written out
  wireshark  the wire format as a dissector for Wireshark and tshark, in Lua (--port, --transport)

An export means the same as the specification, or is refused with the reason; what the other language cannot say is
named in the output.

Exit code 0: written. 1: the specification has errors, or cannot be said in that language. 2: wrong flags,
	a file cannot be read or written.`

type exportFlags struct {
	to, check, out string
	set            map[string]string
	role           string
	transport      string
	channel        string
	port           int
	beside         []files.File // what is written beside the file of -o
}

// exporters write a specification in one language each.
var exporters = map[string]func(spec string, o *exportFlags, cmd *cobra.Command) ([]byte, error){
	"promela": exportPromela, "wireshark": exportWireshark, "json": exportJSON, "mermaid": exportMermaid,
	"tla": exportTLA,
}

func exportCommand() *cobra.Command {
	var o exportFlags
	c := &cobra.Command{
		Use:   "export SPEC --to LANGUAGE",
		Short: "Write a specification for another program: Spin, TLC, Mermaid, JSON, Wireshark",
		Long:  exportLong,
		Args:  exportArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := exporters[language(o.to)]
			switch {
			case o.to == "":
				return fmt.Errorf("say with --to which language: there are %s; such as: fsmgen export %s "+
					"--to promela", strings.Join(exporterNames(), ", "), args[0])
			case !ok:
				return fmt.Errorf("--to %q: there are %s", o.to, strings.Join(exporterNames(), ", "))
			}
			spec, err := cli.SpecFile(args[0])
			if err != nil {
				return err
			}
			text, err := write(spec, &o, cmd)
			if err != nil {
				return err
			}
			if o.out == "" {
				_, err = cmd.OutOrStdout().Write(text)
				return err
			}
			return ioError(files.WriteAll(append(o.beside, files.File{Path: o.out, Content: text})))
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "the `language`: "+strings.Join(exporterNames(), ", "))
	f.StringVar(&o.check, "check", "", "the check of this `name` (default: the only or first one)")
	f.StringToStringVar(&o.set, "set", nil, "replace a constant of the specification, as `NAME=3` (may be repeated)")
	f.StringVar(&o.role, "role", "",
		"for mermaid: the `role` to draw (default: the only one); for wireshark: that of the port")
	f.StringVar(&o.transport, "transport", "",
		"for wireshark: `tcp or udp` (default: udp if messages may be lost or overtake each other, else tcp)")
	f.StringVar(&o.channel, "channel", "", "for wireshark: the `name` of the channel, of a protocol with several")
	f.IntVar(&o.port, "port", 0, "for wireshark: the `number` of the port")
	f.StringVarP(&o.out, "out", "o", "", "the `file` to write (default: standard output)")
	return c
}

// language is the name in [exporters] of what somebody asks for: programs are known by their own names.
func language(name string) string {
	switch name = strings.ToLower(name); name {
	case "spin":
		return "promela"
	case "tla+", "tlc":
		return "tla"
	}
	return name
}

// exportArgs wants one specification. A language before it was meant for --to.
func exportArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 && exporters[language(args[0])] != nil {
		if _, err := os.Stat(args[0]); err != nil {
			spec := strings.Join(args[1:], " ")
			if spec == "" {
				spec = "SPEC"
			}
			return fmt.Errorf("the language stands behind --to; write: fsmgen export %s --to %s", spec,
				language(args[0]))
		}
	}
	return cli.Args(false, "a specification")(c, args)
}

func exporterNames() []string {
	var names []string
	for n := range exporters {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// compiled compiles a specification; what is wrong with it is printed.
func compiled(cmd *cobra.Command, spec string, o compile.Options) (*model.Protocol, error) {
	p, diags := compile.Load(spec, o)
	if p == nil {
		return nil, errors.Join(cli.Rejected(diags), diags.Errors().WriteText(cmd.ErrOrStderr(),
			diag.Render{Excerpt: true, Limit: 20, More: "fsmgen vet --all shows them"}))
	}
	return p, nil
}

// checkOf compiles a specification for the check that is to be exported; what says what becomes of it.
func checkOf(spec string, o *exportFlags, cmd *cobra.Command, what string) (*model.Protocol, error) {
	consts, err := setConsts(o.set)
	if err != nil {
		return nil, err
	}
	if _, list := compile.Load(spec, compile.Options{Consts: consts}); list.HasErrors() {
		if err := unknownSet(spec, o.set, list); err != nil {
			return nil, err
		}
	}
	p, err := compiled(cmd, spec, compile.Options{Consts: consts})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range p.Checks {
		names = append(names, c.Name)
	}
	switch {
	case len(names) == 0:
		return nil, &cli.Error{Code: cli.ExitFindings, Message: spec + ": it has no checks, and " + what +
			" is one of a check"}
	case o.check == "":
		o.check = names[0]
	case !slices.Contains(names, o.check):
		return nil, fmt.Errorf("%s: there is no check %s; there are %s", spec, o.check, strings.Join(names, ", "))
	}
	return compiled(cmd, spec, compile.Options{Check: o.check, Consts: consts})
}

func exportPromela(spec string, o *exportFlags, cmd *cobra.Command) ([]byte, error) {
	p, err := checkOf(spec, o, cmd, "a model for Spin")
	if err != nil {
		return nil, err
	}
	text, err := export.Promela(p, p.Checks[0])
	if err != nil {
		return nil, &cli.Error{Code: cli.ExitFindings, Message: fmt.Sprintf("%s: %v", spec, err)}
	}
	return text, nil
}

// exportTLA writes a module, and beside the file of -o the configurations for TLC. Without -o they stand behind the
// end of the module, where TLC does not read them.
func exportTLA(spec string, o *exportFlags, cmd *cobra.Command) ([]byte, error) {
	p, err := checkOf(spec, o, cmd, "a module of TLA+")
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(o.out), ".tla")
	switch {
	case o.out == "":
		name = "Model"
	case !strings.HasSuffix(o.out, ".tla") || !tla.ModuleName(name):
		return nil, fmt.Errorf("-o %s: TLC wants the file of a module to have its name, such as Model.tla", o.out)
	}
	m, err := tla.Export(p, p.Checks[0], name)
	if err != nil {
		return nil, &cli.Error{Code: cli.ExitFindings, Message: fmt.Sprintf("%s: %v", spec, err)}
	}
	text := m.Module
	for i := range m.Configs {
		c := &m.Configs[i]
		file := name + ".cfg"
		if c.Name != "" {
			file = name + "_" + c.Name + ".cfg"
		}
		o.beside = append(o.beside, files.File{Path: filepath.Join(filepath.Dir(o.out), file),
			Content: []byte(c.Text())})
		if o.out == "" {
			text += "\n" + file + ":\n\n" + c.Text()
		}
	}
	return []byte(text), nil
}

func exportJSON(spec string, _ *exportFlags, cmd *cobra.Command) ([]byte, error) {
	p, err := compiled(cmd, spec, compile.Options{})
	if err != nil {
		return nil, err
	}
	return export.JSON(p)
}

func exportMermaid(spec string, o *exportFlags, cmd *cobra.Command) ([]byte, error) {
	p, err := compiled(cmd, spec, compile.Options{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range p.Roles {
		if r.Name == o.role || o.role == "" && len(p.Roles) == 1 {
			return []byte(graph.Mermaid(r, graph.Options{Protocol: p})), nil
		}
		names = append(names, r.Name)
	}
	if o.role == "" {
		return nil, fmt.Errorf("say with --role which role to draw; there are %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("--role %s: there is no such role; there are %s", o.role, strings.Join(names, ", "))
}

func exportWireshark(spec string, o *exportFlags, cmd *cobra.Command) ([]byte, error) {
	if o.port == 0 {
		return nil, errors.New("a dissector needs the number of a port (1 to 65535): say it with --port")
	}
	if o.port < 1 || o.port > 65535 {
		return nil, fmt.Errorf("--port %d: a dissector needs the number of a port (1 to 65535)", o.port)
	}
	if o.transport != "" && o.transport != "tcp" && o.transport != "udp" {
		return nil, fmt.Errorf("--transport %s: there are tcp and udp", o.transport)
	}
	p, err := compiled(cmd, spec, compile.Options{})
	if err != nil {
		return nil, err
	}
	text, err := dissect.Wireshark(p, dissect.Options{Transport: o.transport, Port: o.port, Server: o.role,
		Channel: o.channel})
	if err != nil {
		return nil, &cli.Error{Code: cli.ExitFindings, Message: fmt.Sprintf("%s: %v", spec, err)}
	}
	return text, nil
}
