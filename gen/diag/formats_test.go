package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// found is a finding behind a character of several bytes, with everything a finding can have.
func found() List {
	line := "doc: größe, x"
	return List{{
		Code: "FSM007", Severity: Error, Message: "50% of it: odd", Hint: "quote it", Line: line,
		Span: Span{File: "a b/s,1.yaml", Start: Pos{3, len("doc: größe, ") + 1},
			End: Pos{3, len(line) + 1}},
		Related: []Related{{Span{File: "base.yaml", Start: Pos{1, 2}, End: Pos{1, 3}}, "first here"}},
	}, {
		Code: "FSM001", Severity: Warning, Message: "gone", Span: Span{File: "/no.yaml"},
	}}
}

func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := found().WriteSARIF(&b); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Results) != 2 || len(run.Tool.Driver.Rules) != 2 {
		t.Fatalf("two findings of two kinds are\n%s", b.String())
	}
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s points to the rule %s", r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID)
		}
	}
	first := run.Results[0]
	at := first.Locations[0].Physical
	if want := (sarifRegion{3, 13, 3, 14}); *at.Region != want {
		t.Errorf("columns count characters: %+v, not %+v", *at.Region, want)
	}
	if at.Artifact.URI != "a%20b/s,1.yaml" || first.Level != "error" ||
		!strings.Contains(first.Message.Text, "quote it") {
		t.Errorf("%+v", first)
	}
	if len(first.Related) != 1 || first.Related[0].Physical.Region.StartLine != 1 {
		t.Errorf("the related place is missing: %+v", first.Related)
	}
	if p := run.Results[1].Locations[0].Physical; p.Region != nil || p.Artifact.URI != "file:///no.yaml" {
		t.Errorf("a finding without place: %+v", p)
	}
}

func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	if err := found().WriteGitHub(&b); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a b/s%2C1.yaml,line=3,col=13,endLine=3,endColumn=14,title=FSM007::50%25 of it: " +
		"odd%0Aquote it\n" +
		"::warning file=/no.yaml,title=FSM001::gone\n"
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}
