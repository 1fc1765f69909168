package opinions

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Row is what the page says of one check.
type Row struct {
	File, Check    string // the file below specs
	Hash           string // the first digits of that of the specification which was asked about
	Configurations uint64
	Violated       []string // the claims that are violated, as the check expects
	// Said is what each of Asked has said: "agrees", what differs, or why there is no opinion behind "no: ". Of who was
	// not asked there is nothing.
	Said map[string]string
}

// Those that are asked, as the page names them.
const (
	SecondChecker = "second checker"
	SpinItself    = "Spin"
	TLAText       = "TLA+ text"
	TLCItself     = "TLC"
)

// Asked are all of them, in the order of the page.
var Asked = []string{SecondChecker, SpinItself, TLAText, TLCItself}

// Key names a check.
func (r *Row) Key() string { return r.File + " " + r.Check }

// Say puts an opinion into a row.
func (r *Row) Say(who string, o Opinion) {
	switch {
	case o.Agrees:
		r.Said[who] = "agrees"
	case o.Refused != "":
		r.Said[who] = "no: " + strings.ReplaceAll(o.Refused, "|", "/")
	default:
		r.Said[who] = "DIFFERS: " + strings.Join(o.Differs, "; ")
	}
}

// With is a row with what another one says of the same version of its specification besides, or that one alone
// where only it is about the version that there is now.
func (r *Row) With(other *Row, now string) *Row {
	switch {
	case r == nil || other != nil && r.Hash != now && other.Hash == now:
		return other
	case other != nil && other.Hash == r.Hash:
		for who, said := range other.Said {
			if r.Said[who] == "" {
				r.Said[who] = said
			}
		}
	}
	return r
}

// Page is docs/OPINIONS.md: what is said of each check, in the order of the files.
type Page []*Row

const head = `# Second opinions

Every check of ` + "`specs`" + `, and what others say of it. The first checker (` + "`fsmgen check --reduce none`" + `) has searched each to its end.
*Agrees* means:

* **second checker** ([decision 41](decisions/0041-second-opinion.md)): as many configurations, the farthest of them as many steps away,
  the same claims violated, and counterexamples and witnesses as short. It reduces nothing.
* **Spin**, on the export to Promela ([EXPORT.md](EXPORT.md)): as many states; or, where something is violated, an error that the
  first checker has found, too. Claims about what can follow are not in the model.
* **TLA+ text**: the export to TLA+, which an evaluator of our own (` + "`proptest/tla`" + `) has read and searched: as many configurations, the same
  claims violated, and runs as short; where there are at most 1,000 of them, the same claims about what must come in the end, too. It says that
  the text means what the first checker does; TLC was not asked.
* **TLC** itself, on the same text.

The hash is that of the specification that was asked about, as reports have it. Where it has changed since, the row is of an older version.
A number stands for the reason why somebody has no opinion; the reasons are below. Nothing is written where nobody was asked.
` + "`go test ./proptest/opinions`" + ` asks again about a sample, ` + "`.ci/nightly`" + ` about all.

`

const below = "\n## Why there is no opinion\n\n"

// String is the text of the page.
func (p Page) String() string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(p.summary())
	reasons := p.reasons()
	b.WriteString("\n| specification | check | hash | configurations | violated | " + strings.Join(Asked, " | ") +
		" |\n|---|---|---|--:|---|" + strings.Repeat("---|", len(Asked)) + "\n")
	file := ""
	for _, r := range p {
		name := ""
		if r.File != file {
			name = "`" + r.File + "`"
		}
		file = r.File
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |", name, r.Check, r.Hash, thousands(r.Configurations),
			strings.Join(r.Violated, ", "))
		for _, who := range Asked {
			text := r.Said[who]
			if why, is := strings.CutPrefix(text, "no: "); is {
				text = strconv.Itoa(slices.Index(reasons, why) + 1)
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString(below)
	for i, why := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, why)
	}
	return b.String()
}

// reasons are all reasons why somebody has no opinion, in order.
func (p Page) reasons() []string {
	all := map[string]bool{}
	for _, r := range p {
		for _, text := range r.Said {
			if why, is := strings.CutPrefix(text, "no: "); is {
				all[why] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// summary counts who agrees with what.
func (p Page) summary() string {
	var b strings.Builder
	b.WriteString("| | checks | configurations |\n|---|--:|--:|\n")
	line := func(what string, of func(r *Row) bool) {
		checks, configurations := 0, uint64(0)
		for _, r := range p {
			if of(r) {
				checks++
				configurations += r.Configurations
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", what, thousands(uint64(checks)), thousands(configurations))
	}
	line("all", func(*Row) bool { return true })
	line("somebody agrees", (*Row).Agreed)
	for _, who := range Asked {
		line(who+" agrees", func(r *Row) bool { return r.Said[who] == "agrees" })
	}
	line("nobody was asked, or could say anything", func(r *Row) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(r.Said)),
			func(s string) bool { return !strings.HasPrefix(s, "no: ") })
	})
	line("somebody differs", func(r *Row) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(r.Said)),
			func(s string) bool { return strings.HasPrefix(s, "DIFFERS") })
	})
	return b.String()
}

// Agreed reports whether somebody agrees with the first checker.
func (r *Row) Agreed() bool {
	return slices.Contains(slices.Collect(maps.Values(r.Said)), "agrees")
}

// Parse reads a page.
func Parse(text string) (p Page, err error) {
	table, list, _ := strings.Cut(text, below)
	var reasons []string
	for line := range strings.Lines(list) {
		if _, why, ok := strings.Cut(strings.TrimSpace(line), ". "); ok {
			reasons = append(reasons, why)
		}
	}
	file := ""
	var asked []string // those that this page has columns for
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) > 7 && cells[1] == "specification" {
			asked = cells[6 : len(cells)-1]
			continue
		}
		if asked == nil || len(cells) != 7+len(asked) || strings.HasPrefix(line, "|---") {
			continue
		}
		if cells[1] != "" {
			file = strings.Trim(cells[1], "`")
		}
		r := &Row{File: file, Check: cells[2], Hash: cells[3], Said: map[string]string{}}
		if r.Configurations, err = strconv.ParseUint(strings.ReplaceAll(cells[4], ",", ""), 10, 64); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if cells[5] != "" {
			r.Violated = strings.Split(cells[5], ", ")
		}
		for i, who := range asked {
			said := cells[6+i]
			if n, err := strconv.Atoi(said); err == nil {
				if n < 1 || n > len(reasons) {
					return nil, fmt.Errorf("%q: there is no reason %d", line, n)
				}
				said = "no: " + reasons[n-1]
			}
			if said != "" {
				r.Said[who] = said
			}
		}
		p = append(p, r)
	}
	return p, nil
}

// Short is the part of a specification's hash that the page has.
func Short(hash string) string { return hash[:min(len(hash), 8)] }

// Of returns the row of a check, or nil.
func (p Page) Of(key string) *Row {
	for _, r := range p {
		if r.Key() == key {
			return r
		}
	}
	return nil
}

func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
