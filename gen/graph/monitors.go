package graph

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// watcher is a monitor that watches a role, with the checks that have it.
type watcher struct {
	name, doc string
	of        []string // whom it watches
	machine   *model.Machine
	text      string // all that it says, to tell it from others of its name
	checks    []string
	reports   map[*model.Event]bool // its events that are reports; the others are commands
}

// watchersOf lists the monitors that watch instances of a role, each once however many checks have it.
func watchersOf(p *model.Protocol, m *model.Machine) (list []*watcher) {
	add := func(w watcher, c *model.Check) {
		w.text = machineText(w.machine)
		i := slices.IndexFunc(list, func(x *watcher) bool { return x.name == w.name && x.text == w.text })
		if i < 0 {
			list = append(list, &w)
			i = len(list) - 1
		}
		for _, of := range w.of {
			if !slices.Contains(list[i].of, of) {
				list[i].of = append(list[i].of, of)
			}
		}
		if !slices.Contains(list[i].checks, c.Name) {
			list[i].checks = append(list[i].checks, c.Name)
		}
	}
	for _, c := range p.Checks {
		for _, i := range c.Instances {
			if !plays(i, m) {
				continue
			}
			for _, part := range i.Role.Parts {
				if !part.Monitor {
					continue
				}
				reports := map[*model.Event]bool{}
				for _, e := range part.Machine.Events {
					reports[e] = !slices.ContainsFunc(i.Role.Commands, func(x *model.Event) bool {
						return x.Name == e.Name
					})
				}
				add(watcher{name: part.Name, doc: part.Doc, of: []string{"each " + m.Name}, machine: part.Machine,
					reports: reports}, c)
			}
		}
		for _, w := range c.Monitors {
			var of []string
			ours, reports := false, map[*model.Event]bool{}
			for _, h := range w.Hears {
				i := c.Instances[h.Instance]
				ours = ours || plays(i, m)
				reports[h.Event] = h.Report != nil
				group, _, _ := strings.Cut(i.Name, "[")
				if !slices.Contains(of, group) {
					of = append(of, group)
				}
			}
			if ours {
				add(watcher{name: w.Inst.Name, doc: w.Inst.Role.Doc, of: of, machine: w.Inst.Role,
					reports: reports}, c)
			}
		}
	}
	return list
}

// machineText is all that a machine does, for comparing.
func machineText(m *model.Machine) string {
	var b strings.Builder
	for _, s := range m.States {
		b.WriteString(s.Name + ":\n")
		for _, h := range s.Handlers {
			if h != nil {
				b.WriteString(h.Event.Name + " " + handlerText(h))
			}
		}
	}
	return b.String()
}

// monitors adds the monitors that watch a role, each as a machine in a frame of its own, and returns their machines.
// The options get to know which events of these are reports.
func (d *diagram) monitors(m *model.Machine, of *Options) (machines []*model.Machine) {
	if of.Protocol == nil {
		return nil
	}
	of.reports = map[*model.Event]bool{}
	o := *of
	o.Unfold = true // what they say stands in their frame
	o.Detail = max(o.Detail, Assignments)
	for _, w := range watchersOf(o.Protocol, m) {
		doc := oneLine(w.doc)
		if doc == "" {
			doc = oneLine(w.machine.Doc)
		}
		f := &frame{name: "monitor " + w.name, monitor: true, initial: -1, number: len(d.frames),
			tip: strings.TrimSuffix("monitor "+w.name+": "+doc, ": ") + place(w.machine.Span)}
		f.rows = append(namesLines("watches", w.of, o), namesLines("in", checkNames(w.checks), o)...)
		for _, text := range (&diagram{doc: doc}).docLines(o.Width + o.Width/2) {
			f.rows = append(f.rows, line{pieces: []piece{{text, faint}}})
		}
		maps.Copy(o.reports, w.reports)
		d.frames = append(d.frames, f)
		d.base, d.outer = len(d.boxes), f
		if w.machine.Initial != nil {
			f.initial = d.base + w.machine.Initial.Index
		}
		d.machine(w.machine, fold(w.machine, o), o)
		machines = append(machines, w.machine)
	}
	d.base, d.outer = 0, nil
	return machines
}

// checkNames is a list of checks with the word before them.
func checkNames(names []string) []string {
	word := "check "
	if len(names) > 1 {
		word = "checks "
	}
	names = slices.Clone(names)
	names[0] = word + names[0]
	return names
}
