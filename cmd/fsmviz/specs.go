package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/picture"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/run"
)

// drawSpecs draws the machines of each specification.
func drawSpecs(w *writer, files []string, o options) error {
	format, err := o.specFormat(w)
	if err != nil {
		return err
	}
	if o.steps != "" {
		return usage("--steps goes with --seq")
	}
	if o.merge {
		return usage("--merge goes with --seq")
	}
	var list []drawing
	for _, arg := range files {
		file, err := cli.SpecFile(arg)
		if err != nil {
			return err
		}
		if run := runIn(file); run != "" {
			return usage("%s is %s, not a specification; it is drawn with --seq: fsmviz --seq %[1]s", file, run)
		}
		p, err := load(w.stderr, file)
		if err != nil {
			return err
		}
		machines, err := choose(p, o)
		if err != nil {
			return usage("%s: %v", file, err)
		}
		g := o.graphOptions()
		g.Protocol = p
		for _, m := range machines {
			d := drawing{name: pictureName(file, m, p), ending: picture.Ending(format)}
			if d.data, err = picture.Render(m, format, g); err != nil {
				return usage("%s: %v", file, err)
			}
			list = append(list, d)
		}
	}
	return w.write(list)
}

// runIn says which kind of run that --seq draws a file is, "" if none.
func runIn(file string) string {
	if cli.RunIn(file) == "a record" {
		return "a record"
	}
	if filepath.Ext(file) != ".json" {
		return ""
	}
	data, err := files.Read(file, maxRun)
	if err != nil {
		return ""
	}
	if _, err := run.Parse(data); err != nil {
		return ""
	}
	return "a run"
}

func (o options) specFormat(w *writer) (string, error) {
	format := o.format
	switch {
	case format != "":
	case w.folder():
		format = picture.SVG
	case w.out != "":
		if format = picture.FormatOf(w.out); format == "" {
			return "", w.noFormat("", ".dot .svg .png .mmd")
		}
	default:
		format = picture.DOT
	}
	if !slices.Contains(picture.Formats, format) {
		return "", usage("--format %s: there are %s", format, strings.Join(picture.Formats, ", "))
	}
	if format == picture.PNG && w.out == "" {
		return "", errPNG
	}
	return format, nil
}

// choose returns the roles that are wanted and, if wanted, what runs inside them.
func choose(p *model.Protocol, o options) ([]*model.Machine, error) {
	var list []*model.Machine
	names := make([]string, len(p.Roles))
	for i, m := range p.Roles {
		names[i] = m.Name
		if len(o.roles) == 0 || slices.Contains(o.roles, m.Name) {
			list = append(list, m)
		}
	}
	for _, r := range o.roles {
		if !slices.Contains(names, r) {
			return nil, errors.New("there is no role " + r + "; there are " + strings.Join(names, ", "))
		}
	}
	if o.parts {
		for i := 0; i < len(list); i++ { // grows: parts may have parts
			for _, part := range list[i].Parts {
				if !slices.ContainsFunc(list, func(m *model.Machine) bool {
					return m == part.Machine || samePart(m, part.Machine)
				}) {
					list = append(list, part.Machine)
				}
			}
		}
	}
	return list, nil
}

// samePart reports whether two parts run the machine of one role; they differ
// in types then, which no picture shows.
func samePart(a, b *model.Machine) bool { return a.Protocol == b.Protocol && a.Name == b.Name }

// pictureName is the specification's name and the role's: confirm-peer,
// confirm-literal-peer for confirm/literal.yaml.
func pictureName(file string, m *model.Machine, p *model.Protocol) string {
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name := p.Name
	if stem != "spec" && stem != p.Name {
		name += "-" + stem
	}
	if m.Protocol != "" && m.Protocol != p.Name {
		name += "-" + m.Protocol
	}
	return name + "-" + m.Name
}
