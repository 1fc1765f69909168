package compile

import (
	"bytes"
	"fmt"
	"testing"
	"testing/fstest"
)

// BenchmarkLoad compiles a specification of many states and reports the time for each
// 1,000 of its lines.
func BenchmarkLoad(b *testing.B) {
	var s bytes.Buffer
	s.WriteString("protocol: long\ntypes: {N: 0..9, C: {enum: [red, green]}}\nmessages:\n")
	const states = 400
	for i := range 20 {
		fmt.Fprintf(&s, "  M%d: {fields: {n: N, c: C}}\n", i)
	}
	s.WriteString("roles:\n  peer:\n    vars: {total: N, seen: \"C?\"}\n    commands: {go: {}}\n    " +
		"reports: {got: {fields: {n: N}}}\n    initial: s0\n    states:\n")
	for i := range states {
		fmt.Fprintf(&s, "      s%d:\n        doc: state %d\n        go: {send: \"M%d{n: total, c: red}\", "+
			"goto: s%d}\n", i, i, i%20, (i+1)%states)
		fmt.Fprintf(&s, "        M%d:\n          - when: n > total && (c == red || seen != none)\n          "+
			"  set: {total: n, seen: c}\n            report: \"got{n: min(n + 1, 9)}\"\n", i%20)
		fmt.Fprintf(&s, "          - {do: [{if: n == 3, then: [{set: {seen: none}}]}], goto: s%d}\n", (i*7)%states)
		fmt.Fprintf(&s, "        ignore: [M%d, M%d]\n", (i+1)%20, (i+2)%20)
	}
	s.WriteString("    common:\n      - {on: {lost: {goto: s0}}}\n")
	fsys := fstest.MapFS{"long.yaml": {Data: s.Bytes()}}
	lines := bytes.Count(s.Bytes(), []byte("\n"))
	if p, l := Load("long.yaml", Options{FS: fsys}); p == nil {
		b.Fatal(l.Error())
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		Load("long.yaml", Options{FS: fsys})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(lines)*1000, "µs/1000lines")
}
