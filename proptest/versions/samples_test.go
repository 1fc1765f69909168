package versions

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
)

// union is a message with a list of tagged elements: most values of its fields have no frame, since each element has
// the part that its tag says, and no other.
const union = `protocol: u
types:
  Kind: {enum: [wave, wind, rain]}
  Sample: {record: {kind: Kind, wave: "0..400?", wind: "0..120?", rain: "0..9?"}}
messages:
  REPORT:
    id: 1
    fields: {samples: {list: Sample, max: 4}}
    wire: [each samples: {to: end, row: [kind: u8, case kind: [wave: [wave: u16], wind: [wind: u8], rain: [rain: u8]]]}]
wire: {order: big, header: [type: u8], max: 64}
roles:
  a: {initial: s, states: {s: {REPORT: ignore}}}
`

// TestSamplesOfUnions: among the messages that are tried are some with a frame for each part, at its greatest value.
func TestSamplesOfUnions(t *testing.T) {
	p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(union)}}})
	if p == nil {
		t.Fatal(list)
	}
	strs := &interp.Strings{}
	var seen []string
	m := p.Messages[0]
	for _, slots := range samples(m, strs) {
		if _, err := interp.AppendFrame(p, strs, nil, m, slots); err.Problem == 0 {
			seen = append(seen, string(interp.AppendMessage(nil, strs, m, slots)))
		}
	}
	all := strings.Join(seen, "\n")
	for _, want := range []string{"wave: 400", "wind: 120", "rain: 9"} {
		if !strings.Contains(all, want) {
			t.Errorf("no message with %s among %d with a frame", want, len(seen))
		}
	}
}
