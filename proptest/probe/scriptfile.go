package probe

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
)

// File is a finding as a script: a scenario whose lines are what we do, and whose output is what comes of it.
// [Repeat] does it again.
func (r *Report) File(f *Finding) string {
	us := roles.ReplaceAllString(r.Us, "")
	is := "is"
	if strings.Contains(us, ",") {
		is = "are"
	}
	they, _, _ := strings.Cut(r.Target, " ")
	b := scenario.Block{
		Head: []string{"# " + us + " " + is + " played by fsmgen probe, " + they + " is the program: --target " +
			they},
		Input: append([]string{"check " + r.Check}, f.Script...),
		Want:  outcome(they, f) + "\n",
	}
	return scenario.Format([]scenario.Block{b})
}

// roles are the roles behind the names of instances.
var roles = regexp.MustCompile(` \([^)]*\)`)

// outcome is what a script shows, in one line.
func outcome(they string, f *Finding) string {
	if f == nil {
		return they + ": nothing is wrong"
	}
	text := fmt.Sprintf("%s: %s", they, f.Kind)
	if f.what != "" && f.Kind != Died {
		text += ": " + f.what
	}
	return text
}

// Repeated is what came of a script.
type Repeated struct {
	// Line is where its block begins. Wants is what the script says that comes of it, Shows what came.
	Line         int
	Wants, Shows string
	// Skipped are lines that were not possible, with the reason where there is one.
	Skipped []string
	Report  *Report
}

// Repeat does the blocks of a script, each in a session of its own. The report of each has the finding, if there is
// one.
func Repeat(ctx context.Context, p *model.Protocol, address string, script []byte, o Options) ([]Repeated, error) {
	blocks, err := scenario.Parse(bytes.NewReader(script))
	if err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("the script is empty")
	}
	if name, ok := strings.CutPrefix(blocks[0].Input[0], "check "); ok {
		o.Check = name
		blocks[0].Input, blocks[0].Line = blocks[0].Input[1:], blocks[0].Line+1
	}
	ctx, cancel := context.WithTimeout(ctx, o.withDefaults().Budget)
	defer cancel()
	pr, err := newProber(p, address, o)
	if err != nil {
		return nil, err
	}
	defer pr.target.stop()
	var acts [][]act
	for _, b := range blocks {
		list := []act{}
		for i, line := range b.Input {
			a, err := pr.parseLine(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", b.Line+i, err)
			}
			list = append(list, a)
		}
		acts = append(acts, list)
	}
	var out []Repeated
	for i, b := range blocks {
		x := Repeated{Line: b.Line, Wants: strings.TrimSpace(b.Want)}
		pr.report.Findings = nil
		s, err := pr.newSession(ctx, pr.target, pr.o)
		if err != nil {
			return out, err
		}
		for _, a := range acts[i] {
			s.unsent = ""
			if s.finding == nil && !s.do(a) && s.finding == nil {
				x.Skipped = append(x.Skipped, strings.TrimSpace(pr.line(a)+" "+s.unsent))
			}
		}
		s.settle()
		if s.now != nil && s.now.Side.Accepted {
			pr.covered.add(s.now.Side.Order)
		}
		s.stop()
		pr.report.Sessions, pr.report.Acts = pr.report.Sessions+1, pr.report.Acts+len(s.acts)
		pr.death(s)
		if f := s.finding; f != nil {
			f.acts, f.Steady = s.acts, true
			for _, a := range acts[i] {
				f.Script = append(f.Script, pr.line(a))
			}
			pr.keep(f, s)
			pr.report.Findings = []*Finding{f}
			pr.restart()
		}
		pr.finish(ctx)
		r := *pr.report
		x.Shows, x.Report = outcome(pr.name(pr.they), s.finding), &r
		out = append(out, x)
	}
	return out, nil
}
