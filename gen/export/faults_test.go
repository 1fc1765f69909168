package export

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
)

// TestJSONFaults: what may go wrong in a check, and its time, are in the JSON; what is not stated is not.
func TestJSONFaults(t *testing.T) {
	const spec = `protocol: little
messages: {A: }
channel: {order: fifo, capacity: 2}
roles:
  one:
    commands: {go: {}}
    initial: here
    states:
      here: {go: {do: [{send: A}]}, A: ignore, lost: ignore}
checks:
  timed: {instances: {a: one, b: one}, time: {beat: 2, delay: 3}, claims: {c: {always: a.here, why: it claims}}}
  pair:
    instances: {a: one, b: one}
    faults: {crash: {b: 1}, restart: {b: 2}, break: 3, return: 4, partition: 5}
    claims: {c: {always: a.here, why: it has to claim something}}
`
	p, list := compile.Load("spec.yaml", compile.Options{
		FS: fstest.MapFS{"spec.yaml": {Data: []byte(spec)}}})
	if p == nil {
		t.Fatal(list)
	}
	data, err := JSON(p)
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(data)), "")
	for _, want := range []string{
		`"faults":{"crash":{"b":1},"restart":{"b":2},"atomic":false,"break":3,"return":4,"partition":5}`,
		`"time":{"beat":2,"delay":3}`,
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("there is no %s in\n%s", want, data)
		}
	}
}
