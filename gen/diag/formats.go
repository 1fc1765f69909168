package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// The parts of SARIF 2.1.0 that we use.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    sarifText   `json:"fullDescription"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

// WriteSARIF writes l as a SARIF 2.1.0 log with the explanations of the codes it
// has. Columns count characters. The error is that of w.
func (l List) WriteSARIF(w io.Writer) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Tool: sarifTool{sarifDriver{Name: "fsmgen", Rules: []sarifRule{}}}}
	present, index := map[string]bool{}, map[string]int{}
	for _, d := range l {
		present[d.Code] = true
	}
	for _, i := range Codes() {
		if present[i.Code] {
			index[i.Code] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules,
				sarifRule{i.Code, sarifText{i.Title}, sarifText{i.Text}, sarifConfig{i.kind()}})
		}
	}
	for _, d := range l {
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		r := sarifResult{RuleID: d.Code, RuleIndex: index[d.Code], Level: d.Severity.String(),
			Message: sarifText{text}}
		r.Locations = []sarifLocation{{Physical: physical(d.Span, region(d))}}
		for _, rel := range d.Related {
			r.Related = append(r.Related, sarifLocation{physical(rel.Span,
				&sarifRegion{StartLine: rel.Span.Start.Line}), &sarifText{rel.Message}})
		}
		run.Results = append(run.Results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func physical(s Span, r *sarifRegion) sarifPhysical {
	if s.Start.Line < 1 {
		r = nil
	}
	u := url.URL{Path: s.File}
	if path.IsAbs(s.File) {
		u.Scheme = "file"
	}
	return sarifPhysical{sarifArtifact{u.String()}, r}
}

// region is the place of d with columns in characters. The end is left out where its
// line's text is not known.
func region(d Diagnostic) *sarifRegion {
	s := d.Span
	r := &sarifRegion{StartLine: s.Start.Line, StartColumn: chars(d.Line, s.Start.Col)}
	if s.End.Line == s.Start.Line && s.End.Col > s.Start.Col {
		r.EndLine, r.EndColumn = s.End.Line, chars(d.Line, s.End.Col)
	}
	return r
}

// chars turns a column in bytes into one in characters.
func chars(line string, col int) int {
	if col < 1 || col-1 > len(line) {
		return max(1, col)
	}
	return utf8.RuneCountInString(line[:col-1]) + 1
}

// WriteGitHub writes l as workflow commands of GitHub Actions, which show each finding beside
// its line. The error is that of w.
func (l List) WriteGitHub(w io.Writer) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, d := range l {
		fmt.Fprintf(&b, "::%s file=%s", d.Severity, property.Replace(d.Span.File))
		if d.Span.Start.Line > 0 {
			r := region(d)
			fmt.Fprintf(&b, ",line=%d,col=%d", r.StartLine, r.StartColumn)
			if r.EndLine > 0 {
				fmt.Fprintf(&b, ",endLine=%d,endColumn=%d", r.EndLine, r.EndColumn)
			}
		}
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", d.Code, data.Replace(text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
