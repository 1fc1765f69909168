package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
)

// beyond is what the checks of a campaign have in place of what they say. It is written as a variant of
// the specification, so that it means what it means there, and so do its errors.
type beyond struct {
	capacity  int
	faults    string
	instances string
}

// is reports whether anything is other than the checks say.
func (o *beyond) is() bool { return o.capacity != 0 || o.faults != "" || o.instances != "" }

func (o *beyond) parse() error {
	switch {
	case strings.ContainsAny(o.faults, "\n\r#"):
		return fmt.Errorf("--faults %q: write it in one line, like 'crash: 1, restart: 1'", o.faults)
	case strings.ContainsAny(o.instances, "\n\r#"):
		return fmt.Errorf("--instances %q: write it in one line, like 'a: peer, b: peer'", o.instances)
	}
	return nil
}

// flags are those that say it.
func (o *beyond) flags() string {
	text := ""
	if o.capacity != 0 {
		text += fmt.Sprint(" --capacity ", o.capacity)
	}
	if o.faults != "" {
		text += " --faults '" + o.faults + "'"
	}
	if o.instances != "" {
		text += " --instances '" + o.instances + "'"
	}
	return text
}

// file is the specification itself, or a variant of it that is there until done is called. If the
// specification has errors it is the one.
func (o *beyond) file(spec string, only check.Only, consts map[string]int64) (name string, done func(), err error) {
	if !o.is() {
		return spec, func() {}, nil
	}
	text, err := o.variant(spec, spec, only, consts)
	if err != nil || text == "" {
		return spec, func() {}, err
	}
	dir, err := os.MkdirTemp("", "fsmgen-simulate-")
	if err != nil {
		return "", nil, err
	}
	name = filepath.Join(dir, variantName)
	if err := files.Write(name, []byte(text)); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return name, func() { os.RemoveAll(dir) }, nil
}

// variantName is the file of a variant.
const variantName = "simulate.yaml"

// named is a text about a variant with the flags in place of the file.
func (o *beyond) named(text string) string {
	if !o.is() {
		return text
	}
	at := strings.Index(text, variantName)
	for at >= 0 {
		begin := strings.LastIndexAny(text[:at], " \n") + 1
		text = text[:begin] + "(flags)" + text[at+len(variantName):]
		at = strings.Index(text, variantName)
	}
	return text
}

// variant is a variant of a specification, which lies at a path from it, with what the flags say of
// its checks, or of one. It is empty if the specification has errors.
func (o *beyond) variant(spec, path string, only check.Only, consts map[string]int64) (string, error) {
	p, _ := compile.Load(spec, compile.Options{Consts: consts})
	if p == nil {
		return "", nil
	}
	if path == spec {
		full, err := filepath.Abs(spec)
		if err != nil {
			return "", err
		}
		path = full
	}
	var b strings.Builder
	fmt.Fprintf(&b, "protocol: %s\nextends: %q\nchecks:\n", p.Name, filepath.ToSlash(path))
	for _, c := range p.Checks {
		if !only.Has(c.Name) {
			continue
		}
		fmt.Fprintf(&b, "  %s:\n", c.Name)
		if len(consts) > 0 {
			var list []string
			for _, name := range slices.Sorted(maps.Keys(consts)) {
				list = append(list, fmt.Sprintf("%s: %d", name, consts[name]))
			}
			fmt.Fprintf(&b, "    consts: {%s}\n", strings.Join(list, ", "))
		}
		if c.Channel.Name != "" {
			b.WriteString("    channels:\n")
		}
		for _, ch := range c.Channels() {
			if o.capacity != 0 {
				ch.Capacity = o.capacity
			}
			name := "channel"
			if ch.Name != "" {
				name = "  " + ch.Name
			}
			fmt.Fprintf(&b, "    %s: {order: %s, lossy: %v, duplicates: %v, capacity: %d, full: %s}\n", name,
				map[bool]string{true: "fifo", false: "any"}[ch.Ordered],
				ch.Lossy, ch.Duplicates, ch.Capacity, map[model.Full]string{model.FullLose: "lose",
					model.FullWait: "wait"}[ch.Full])
		}
		if o.faults != "" {
			fmt.Fprintf(&b, "    faults: {%s}\n", o.faults)
		}
		if o.instances != "" {
			fmt.Fprintf(&b, "    instances: {%s}\n", o.instances)
		}
	}
	return strings.ReplaceAll(b.String(), "full: }", "full: fault}"), nil
}

// keep writes the variant beside what was found with it, and returns its name; spec itself if there is
// none.
func (o *beyond) keep(spec, dir string, only check.Only, set map[string]string) (string, error) {
	consts, err := setConsts(set)
	if err != nil || !o.is() && len(consts) == 0 {
		return spec, err
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(spec)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(from, to)
	if err != nil {
		path = to
	}
	text, err := o.variant(spec, path, only, consts)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, variantName)
	return name, files.WriteAll([]files.File{{Path: name, Content: []byte(text)}})
}
