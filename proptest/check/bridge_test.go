package check

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
)

// bridged is a protocol in which one tells two others something.
const bridged = `protocol: told
messages: {NEWS: }
roles:
  teller:
    commands: {tell: }
    initial: idle
    states:
      idle: {tell: {send: NEWS, to: all, goto: told}}
      told: {doc: nothing more is told}
  hearer:
    initial: waiting
    states:
      waiting: {NEWS: {goto: heard}}
      heard: {final: true}
channel: {capacity: 2, order: any}
checks:
  c:
    instances: {a: teller, b: hearer, s: hearer}
    quiet: "true"
    faults: {partition: 1, bridge: BRIDGE}
    expect: [EXPECT]
    claims:
      b-hears: {always: b.heard, when: a.told, quiescent: true}
      s-hears: {always: s.heard, when: a.told, quiescent: true}
`

// TestBridge: who hears both sides of a partition hears all, is assumed to and told to, and is like no other.
func TestBridge(t *testing.T) {
	for bridge, expect := range map[string]string{"s": "b-hears", "[b]": "s-hears", "[a]": ""} {
		r := checked(t, strings.NewReplacer("BRIDGE", bridge, "EXPECT", expect).Replace(bridged))
		text := r.Text(true)
		for _, c := range r.Claims {
			if c.Kind == "always" && (c.Result == Violated) != (c.Name == expect) {
				t.Errorf("bridge %s: %s is %s\n%s", bridge, c.Name, c.Result, text)
			}
		}
		name := strings.Trim(bridge, "[]")
		wants := []string{name + " hears both sides of each partition"}
		if expect != "" {
			wants = append(wants, " there, "+name+" on both sides")
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("bridge %s: no %q in\n%s", bridge, want, text)
			}
		}
	}
	for faults, want := range map[string]string{
		"partition: 1, bridge: [a, s]": "needs two instances", "crash: 1, bridge: s": "`bridge` is about partitions",
	} {
		text := strings.Replace(bridged, "partition: 1, bridge: BRIDGE", faults, 1)
		_, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}})
		if !strings.Contains(list.Error(), want) {
			t.Errorf("%s: %v", faults, list)
		}
	}
}

// TestBridgeIsUnlike: of instances of one role, one that is a bridge is not interchangeable with one that is not.
func TestBridgeIsUnlike(t *testing.T) {
	for bridge, alike := range map[string]bool{"s": false, "[a]": true} {
		text, _, _ := strings.Cut(bridged, "    claims:")
		s := suiteSystem(t, strings.NewReplacer("BRIDGE", bridge, "EXPECT", "").Replace(text))
		s.FindSymmetry()
		if got := s.System.Symmetry != nil; got != alike {
			t.Errorf("bridge %s: interchangeable is %v", bridge, got)
		}
	}
}
