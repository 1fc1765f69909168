package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A system is one RACES.md: the races of a system, told beside its specifications.
type system struct {
	dir, title string // dir is a folder of specs
	races      []*entry
}

// An entry is a race: it has a check that shows it, or a reason why there is none.
type entry struct {
	dir, name, title string
	where            string // file and line of its heading, for errors
	shown            []claim
	holds            *claim
	before, after    []place
	text, rule       string
	reason           string // why there is no check
	open             string // why the sound specification does not repair it
}

// A claim is one of a check; steps is the length of the shortest run that violates it.
type claim struct {
	search
	name  string
	steps int
}

// A search is a check of a specification, whose file is told from the root of the repository.
type search struct{ file, name string }

// A place is where lines of a specification stand: the keys that lead to them.
type place struct {
	file string
	path []string
}

var (
	heading = regexp.MustCompile(`^## ([A-Z][0-9]+) (.+)$`)
	fact    = regexp.MustCompile(`^- ([a-z]+): (.+)$`)
	word    = regexp.MustCompile(`"[^"]*"|\S+`)
)

// read reads every specs/*/RACES.md below root.
func read(root string) ([]*system, error) {
	names, err := filepath.Glob(filepath.Join(root, "specs", "*", "RACES.md"))
	if err != nil {
		return nil, err
	}
	var list []*system
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		dir := "specs/" + filepath.Base(filepath.Dir(name))
		s, err := parse(dir, string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no specs/*/RACES.md below %s", root)
	}
	return list, nil
}

// parse reads the text of one RACES.md.
func parse(dir, text string) (*system, error) {
	s := &system{dir: dir}
	var r *entry
	for i, line := range strings.Split(text, "\n") {
		where := fmt.Sprintf("%s/RACES.md:%d", dir, i+1)
		switch m := heading.FindStringSubmatch(line); {
		case i == 0 && strings.HasPrefix(line, "# "):
			s.title = strings.TrimPrefix(line, "# ")
		case m != nil:
			r = &entry{dir: dir, name: m[1], title: m[2], where: where}
			s.races = append(s.races, r)
		case strings.HasPrefix(line, "#"):
			return nil, fmt.Errorf("%s: a heading is a race, as in `## R1 Two players in one slot`", where)
		case r == nil && line != "":
			return nil, fmt.Errorf("%s: text before the first race", where)
		case r == nil:
		case fact.MatchString(line):
			m := fact.FindStringSubmatch(line)
			if err := r.fact(m[1], m[2]); err != nil {
				return nil, fmt.Errorf("%s: %w", where, err)
			}
		case strings.HasPrefix(line, "Rule: "):
			r.rule = strings.TrimPrefix(line, "Rule: ")
		case r.rule != "" && line != "":
			r.rule += " " + line
		default:
			r.text += line + "\n"
		}
	}
	for _, r := range s.races {
		r.text = strings.TrimSpace(r.text)
		if err := r.complete(); err != "" {
			return nil, fmt.Errorf("%s: %s %s", r.where, r.name, err)
		}
	}
	return s, nil
}

// fact takes a line of the list below a heading.
func (r *entry) fact(kind, text string) error {
	words := word.FindAllString(text, -1)
	file := func() string { return filepath.ToSlash(filepath.Join(r.dir, words[0])) }
	switch kind {
	case "shown":
		if len(words) != 4 {
			return fmt.Errorf("shown needs file, check, claim and steps")
		}
		n, err := strconv.Atoi(words[3])
		if err != nil {
			return fmt.Errorf("%s is no number of steps", words[3])
		}
		r.shown = append(r.shown, claim{search{file(), words[1]}, words[2], n})
	case "holds":
		if len(words) != 3 {
			return fmt.Errorf("holds needs file, check and claim")
		}
		r.holds = &claim{search{file(), words[1]}, words[2], 0}
	case "before", "after":
		if len(words) < 2 {
			return fmt.Errorf("%s needs a file and the keys that lead to its lines", kind)
		}
		p := place{file: file()}
		for _, w := range words[1:] {
			p.path = append(p.path, strings.Trim(w, `"`))
		}
		if kind == "before" {
			r.before = append(r.before, p)
		} else {
			r.after = append(r.after, p)
		}
	case "reason":
		r.reason = text
	case "open":
		r.open = text
	default:
		return fmt.Errorf("%s is none of shown, holds, before, after, reason, open", kind)
	}
	return nil
}

// complete says what is missing, empty if nothing is.
func (r *entry) complete() string {
	switch {
	case r.reason != "" && len(r.shown) > 0:
		return "has both a check and a reason why there is none"
	case r.reason != "":
		return ""
	case len(r.shown) == 0:
		return "has neither a check that shows it nor a reason why there is none"
	case r.text == "":
		return "does not say what happens to the players"
	case r.open != "" && (r.holds != nil || r.rule != ""):
		return "is repaired and open"
	case r.open != "":
		return ""
	case r.holds == nil || r.rule == "" || len(r.before) == 0 || len(r.after) == 0:
		return "has no rule that repairs it: holds, before, after and a line that begins with Rule"
	}
	return ""
}
