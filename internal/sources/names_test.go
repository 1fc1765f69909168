package sources

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	mark   = regexp.MustCompile("`([^`]+)`|[\\w./-]*[\\w-]+\\.yaml|[A-Z][A-Z_0-9]+/[1-9]|[A-Z][A-Z_0-9]+")
	branch = regexp.MustCompile(`^([A-Za-z][\w.-]*)/([1-9])$`)
	keys   = regexp.MustCompile(`\[[^\]]*\]`)
	plain  = regexp.MustCompile(`^[A-Za-z][\w-]*(\.[A-Za-z][\w-]*)*$`)
	test   = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w+$`)
	holes  = regexp.MustCompile(`[A-Z]+`)
	stars  = regexp.MustCompile(`\*([.]\*)+`)
	column = regexp.MustCompile(`^[\w-]+\.yaml$`)
)

// TestNames: what stands in backticks on a page, and each message with the number of a branch, is in the
// specifications beside the page: in the file that the cell or the head of the column names, else in any of them.
func TestNames(t *testing.T) {
	var wanted []wish
	seen := 0
	for _, f := range all(t) {
		for _, r := range f.rows() {
			for i, cell := range r.cells {
				s := &scope{t: t, f: f, at: r.at, text: r.head == nil}
				strict := false
				if i < len(r.head) {
					strict = column.MatchString(r.head[i]) || r.head[i] == "where" || r.head[i] == "message"
					if column.MatchString(r.head[i]) {
						s.name(r.head[i])
					}
				}
				for _, m := range mark.FindAllStringSubmatch(cell, -1) {
					seen++
					s.mark(m[0], m[1], strict)
				}
				wanted = append(wanted, s.wanted...)
			}
		}
	}
	if seen < 1500 {
		t.Errorf("only %d names were looked at", seen)
	}
	declared(t, wanted)
}

// A wish is a Go name that a page mentions.
type wish struct{ at, name string }

// A scope is where the names of one cell are looked for.
type scope struct {
	t    *testing.T
	f    *folder
	at   string
	text bool // no table: a name may be of any file that the text mentions

	folder *folder // that the cell has named last
	file   string  // likewise; "" is any file
	wanted []wish
}

// mark looks for one thing that a cell mentions; quoted is what stands in backticks. Plain words in capitals are
// messages only in some columns.
func (s *scope) mark(whole, quoted string, strict bool) {
	s.t.Helper()
	switch {
	case strings.HasSuffix(whole, ".yaml") || strings.HasSuffix(quoted, ".yaml") && !strings.Contains(quoted, " "):
		s.name(strings.Trim(whole, "`"))
	case quoted == "":
		if (strict || strings.Contains(whole, "/")) && !slices.Contains(abbreviations, whole) && !s.find(whole) {
			s.complain("%s", whole)
		}
	case strings.HasPrefix(quoted, "fsmgen ") || strings.HasPrefix(quoted, "go test ") ||
		strings.HasPrefix(quoted, "PARLEY_") || strings.HasPrefix(quoted, "-"):
		s.command(quoted)
	case test.MatchString(quoted):
		s.wanted = append(s.wanted, wish{s.at, quoted})
	case s.sibling(quoted) || s.path(quoted) || s.find(quoted):
	case goName(quoted) != "":
		s.wanted = append(s.wanted, wish{s.at, goName(quoted)})
	default:
		s.complain("`%s`", quoted)
	}
}

// abbreviations are words in capitals that are no messages.
var abbreviations = []string{"TCP", "UDP", "IPX", "HTTP", "GNE", "LF", "CR", "NWF", "GF", "SOURCES", "RACES", "RFC",
	"ASCII", "IP", "ID", "JSON", "HTML"}

func (s *scope) complain(format, name string) {
	s.t.Helper()
	where := s.f.dir
	if s.folder != nil {
		where = s.folder.dir
	}
	if s.file != "" {
		where += "/" + s.file
	}
	s.t.Errorf("%s: "+format+" is not in %s: mend the page, or the specification; quote with \"\" what is no "+
		"name there", s.at, name, where)
}

// name takes the name of a file, which must exist: what follows it in the cell is about it.
func (s *scope) name(file string) {
	s.t.Helper()
	f := s.f
	dir, base := filepath.Split(file)
	if dir != "" {
		if f = open(s.t, strings.TrimPrefix(strings.Trim(filepath.ToSlash(dir), "/."), "specs/")); f == nil {
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				s.t.Errorf("%s: there is no %s", s.at, file)
			}
			return
		}
	}
	if _, ok := f.files[base]; !ok {
		s.t.Errorf("%s: there is no %s/%s", s.at, f.dir, base)
		return
	}
	if s.folder = f; !s.text {
		s.file = base
	}
}

// find reports whether the specifications have a name.
func (s *scope) find(name string) bool {
	s.t.Helper()
	name = keys.ReplaceAllString(name, "")
	for _, f := range []*folder{s.folder, s.f} {
		if f == nil || f == s.f && s.file != "" && s.folder != s.f {
			continue
		}
		for _, file := range f.order {
			if (s.file == "" || file == s.file) && f.file(s.t, file).has(name) {
				return true
			}
		}
	}
	return false
}

// has reports whether a file has a name, several of which begin or end as a page says with dots, a line, or a piece
// of YAML.
func (x *index) has(name string) bool {
	if m := branch.FindStringSubmatch(name); m != nil {
		return x.branches[m[1]] >= int(m[2][0]-'0')
	}
	if x.names[name] || x.names[strings.ReplaceAll(name, "/", " ")] {
		return true
	}
	if plain.MatchString(name) {
		return x.keys(name)
	}
	begin, more := strings.CutSuffix(name, "...")
	if end, any := strings.CutPrefix(name, "..."); any || more {
		for n := range x.names {
			if any && strings.HasSuffix(n, end) || more && strings.HasPrefix(n, begin) && n != begin {
				return true
			}
		}
		return false
	}
	line, open := strings.CutSuffix(template(name), "…")
	for _, l := range x.lines {
		behind := strings.HasSuffix(l, line) && strings.Contains(line, "=") // a part of an address
		if l == line || behind || open && strings.HasPrefix(l, line) {
			return true
		}
	}
	return strings.Contains(x.text, flat(name))
}

// keys reports whether a name is made of keys of the file, or of a word that stands for a value: `wire.order`,
// `hostile`.
func (x *index) keys(name string) bool {
	for _, word := range strings.Split(name, ".") {
		if !strings.Contains(x.text, " "+word+":") && !strings.Contains(x.text, ": "+word+" ") {
			return false
		}
	}
	return true
}

// template returns a line with a star for each word in capitals, which stand for what a sender fills in.
// Numbers that are written with dots between them are one.
func template(line string) string {
	return stars.ReplaceAllString(holes.ReplaceAllString(line, "*"), "*")
}

// sibling takes the name of another specification, or of something in one: `lobby`, `lobby.session`.
func (s *scope) sibling(name string) bool {
	s.t.Helper()
	dir, rest, dot := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "specs/"), "../"), ".")
	f := open(s.t, dir)
	if f == nil || f == s.f && !dot {
		return false
	}
	if dot {
		return (&scope{t: s.t, f: f}).find(rest)
	}
	s.folder, s.file = f, ""
	return true
}

// path reports whether a name is a file or a folder of the repository, or a package of the standard library.
func (s *scope) path(name string) bool {
	if !strings.Contains(name, "/") || strings.Contains(name, " ") {
		return false
	}
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil || name == "net/http" || name == "net/url"
}

// command looks for the files and tests that a command names.
func (s *scope) command(line string) {
	s.t.Helper()
	for _, word := range strings.Fields(line) {
		switch {
		case test.MatchString(word):
			s.wanted = append(s.wanted, wish{s.at, word})
		case strings.Contains(word, "/"):
			if _, err := os.Stat(filepath.Join(root, word)); err != nil {
				s.t.Errorf("%s: there is no %s", s.at, word)
			}
		}
	}
}

var exported = regexp.MustCompile(`^([a-z]+\.)?([A-Z]\w*\.)*([A-Z][a-z]\w*)$`)

// goName returns the last word of an exported name of Go; "" if it is none.
func goName(name string) string {
	if m := exported.FindStringSubmatch(name); m != nil {
		return m[3]
	}
	return ""
}

// declared looks for the declarations of Go names: functions, types, and fields.
func declared(t *testing.T, wanted []wish) {
	t.Helper()
	left := map[string]*regexp.Regexp{}
	for _, w := range wanted {
		left[w.name] = regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |\t)` + w.name + `\b`)
	}
	for _, top := range []string{"runtime", "proptest", "examples", "gen", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || len(left) == 0 {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := string(b)
			for name, re := range left {
				if strings.Contains(text, name) && re.MatchString(text) {
					delete(left, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range wanted {
		if left[w.name] != nil {
			t.Errorf("%s: nothing in Go is called `%s`: mend the page", w.at, w.name)
		}
	}
}
