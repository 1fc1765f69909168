package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// noLimits are the numbers of links and drivers that turn nobody away and drop nothing, and why.
var noLimits = map[string]string{
	"udp.Retry": "how often something is asked", "ipx.Retry": "the same",
	"ipx.Attempts": "the same; then Dial fails", "tcp.Attempts": "the same",
	"tcp.Timeout": "Dial says so", "tcp.Pause": "between two attempts of Dial",
	"tcp.Linger":                   "Close waits no longer, for a peer that is closed",
	"udp.Gather":                   "a delay",
	"mem.Linger":                   "as for tcp",
	"mem.Queue":                    "Send says so",
	"mem.MaxFrame":                 "Send says so",
	"internal/dgram.Gather":        "a delay",
	"internal/dgram.Overhead":      "bytes of a header",
	"internal/dgram.ReceiveBuffer": "the system drops what comes, and counts it itself",
	"ipx.ReceiveBuffer":            "the same",
	"runtime/driver.ReceiveBuffer": "the size of a read; larger frames are an error of the specification",
}

// noBites are counters that count no limit.
var noBites = map[string]string{
	"internal/dgram": "strangers invalid gate own unsent skipped",
	"ipx":            "registered relayed malformed strangers unknown",
	"tcp":            "accepted reset",
	"dtlslink":       "dtls_foreign dtls_clear",
	"book":           "book_damaged book_foreign book_unproved book_greetings",
	"runtime/driver": "steps commands timeouts ignored deferred refused malformed frames_in frames_out bytes_in " +
		"bytes_out sends_dropped reports links_up links_lost trace_failures",
}

// told is what a folder of links, or the driver, has about limits.
type told struct {
	fields   []string // exported numbers of its configurations
	counters []string // names of its totals
	names    []string // by which the log is told
}

// limitsOf reads the Go files of a folder.
func limitsOf(folder string) (told, error) {
	var f told
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return f, err
	}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return f, err
		}
		if err := f.read(p, src); err != nil {
			return f, err
		}
	}
	return f, nil
}

var (
	configs = regexp.MustCompile("^(Config|Limits|ServeConfig|ServerConfig|Options)$")
	bites   = regexp.MustCompile("^([bB]ite|tellLimit|Fail|newError)$")
	totals  = regexp.MustCompile("^[a-z_]+$")
)

func (f *told) read(name string, src []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok && configs.MatchString(n.Name.Name) {
				f.fields = append(f.fields, numbers(s)...)
			}
		case *ast.FuncDecl:
			f.function(n)
		}
		return true
	})
	return nil
}

// numbers are the fields of a struct that are of type int or time.Duration.
func numbers(s *ast.StructType) (list []string) {
	for _, field := range s.Fields.List {
		id, _ := field.Type.(*ast.Ident)
		sel, _ := field.Type.(*ast.SelectorExpr)
		if id != nil && id.Name == "int" || sel != nil && sel.Sel.Name == "Duration" {
			for _, n := range field.Names {
				list = append(list, n.Name)
			}
		}
	}
	return list
}

// function notes the names in a function that counts or tells: string literals, and arguments of
// those that report errors.
func (f *told) function(d *ast.FuncDecl) {
	telling, counting := false, regexp.MustCompile("^(Counts|Metrics|turnedAway|starving)$").MatchString(d.Name.Name)
	var words, idents []string
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if w, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				words = append(words, w)
			}
		case *ast.CallExpr:
			called := ""
			switch fun := n.Fun.(type) {
			case *ast.SelectorExpr:
				called = fun.Sel.Name
			case *ast.Ident:
				called = fun.Name
			}
			if bites.MatchString(called) {
				telling = true
				for _, arg := range n.Args {
					if id, ok := arg.(*ast.Ident); ok {
						idents = append(idents, id.Name)
					}
				}
			}
		}
		return true
	})
	if telling {
		f.names = append(append(f.names, words...), idents...)
	}
	if counting {
		for _, w := range words {
			if totals.MatchString(w) {
				f.counters = append(f.counters, w)
			}
		}
	}
}

// limitRow is a row of the table in docs/LINKS.md.
type limitRow struct{ folders, limits, counters, names []string }

func limitRows(page string) (rows []limitRow) {
	_, table, _ := strings.Cut(page, "| where | limit | counted as | in the log |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			return nil
		}
		var lists [4][]string
		for i, c := range cells {
			for _, m := range quoted.FindAllStringSubmatch(c, -1) {
				lists[i] = append(lists[i], m[1])
			}
		}
		if lists[0] == nil && len(rows) > 0 {
			lists[0] = rows[len(rows)-1].folders
		}
		rows = append(rows, limitRow{lists[0], lists[1], lists[2], lists[3]})
	}
	return rows
}

// TestLimits: each limit of a link or driver has a number among the metrics and a name in the log,
// and docs/LINKS.md has all of them. A new field of a configuration that is a number, or a new
// counter, has to be in the table or among what is no limit.
func TestLimits(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/LINKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range wrongLimits(t, limitRows(string(page))) {
		t.Error(wrong)
	}
}

func wrongLimits(t *testing.T, rows []limitRow) (wrong []string) {
	t.Helper()
	if len(rows) < 30 {
		return []string{"docs/LINKS.md has no table of limits"}
	}
	folders := map[string]told{}
	for _, folder := range []string{"internal/dgram", "udp", "ipx", "ipx/raw", "tcp", "dtlslink", "tlslink", "book",
		"mem", "runtime/driver"} {
		at := path.Join("runtime/transport", folder)
		if strings.HasPrefix(folder, "runtime/") {
			at = folder
		}
		f, err := limitsOf(at)
		if err != nil {
			t.Fatal(err)
		}
		folders[folder] = f
	}
	fields := 0
	for folder, f := range folders {
		for _, name := range f.fields {
			fields++
			if _, ok := noLimits[folder+"."+name]; !ok && !slices.ContainsFunc(rows, func(r limitRow) bool {
				return slices.Contains(r.folders, folder) && slices.Contains(r.limits, name)
			}) {
				wrong = append(wrong, folder+": "+name+" is a number of a configuration, and neither in the table of "+
					"docs/LINKS.md nor in noLimits")
			}
		}
		for _, name := range f.counters {
			no := slices.Contains(levels, name) || slices.Contains(strings.Fields(noBites[folder]), name)
			if !no && !slices.ContainsFunc(rows, func(r limitRow) bool {
				return slices.Contains(r.folders, folder) && slices.Contains(r.counters, name)
			}) {
				wrong = append(wrong, folder+": "+name+" is counted, and neither in the table of docs/LINKS.md nor "+
					"in noBites")
			}
		}
	}
	for _, r := range rows {
		has := func(what string, list []string, of func(told) []string) {
			if len(list) == 0 {
				wrong = append(wrong, strings.Join(r.limits, ", ")+" has no "+what)
			}
			for _, name := range list {
				if !slices.ContainsFunc(r.folders, func(f string) bool {
					return slices.Contains(of(folders[f]), name)
				}) {
					wrong = append(wrong, strings.Join(r.folders, ", ")+" have no "+what+" "+name)
				}
			}
		}
		has("counter", r.counters, func(f told) []string { return f.counters })
		has("name in the log", r.names, func(f told) []string { return f.names })
	}
	for key := range noLimits {
		i := strings.LastIndex(key, ".")
		if !slices.Contains(folders[key[:i]].fields, key[i+1:]) {
			wrong = append(wrong, "noLimits has "+key+", which is not there")
		}
	}
	for folder, names := range noBites {
		for name := range strings.FieldsSeq(names) {
			if !slices.Contains(folders[folder].counters, name) {
				wrong = append(wrong, "noBites has "+folder+" "+name+", which is not there")
			}
		}
	}
	if fields < 40 {
		wrong = append(wrong, "only "+strconv.Itoa(fields)+" numbers were found in configurations")
	}
	slices.Sort(wrong)
	return wrong
}

// levels are metrics that may fall, and high-water marks.
var levels = []string{"peers", "half_open", "dtls_peers", "dtls_handshakes", "mailbox_high"}

// TestLimitsNotice: a limit without a number, one without a name and one that is not there are seen.
func TestLimitsNotice(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/LINKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"| `Stall` | `stalled` |", "| `Stall` | |"},
		{"| `stalled` | `Stall` |", "| `stalled` | `Stalled` |"},
		{"| `SendQueue` | `send_full` |", "| something | `send_full` |"},
		{"| `limited` |", "| `limit` |"},
	} {
		changed := strings.Replace(string(page), change[0], change[1], 1)
		if changed == string(page) {
			t.Fatalf("the page has no %s", change[0])
		}
		if len(wrongLimits(t, limitRows(changed))) == 0 {
			t.Errorf("nobody notices %s instead of %s", change[1], change[0])
		}
	}
}
