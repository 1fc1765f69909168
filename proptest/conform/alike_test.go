package conform

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/conform/sample/parts"
	"github.com/parley-go/parley/runtime/fsm"
)

// TestDirections: a frame that could be what either role sends is for each role what the other one does.
func TestDirections(t *testing.T) {
	p := load(t, "testdata/parts/spec.yaml", compile.Options{})
	strs := &interp.Strings{}
	for _, x := range []struct{ to, hex, want string }{
		{"other", "08 0003 01 6162", `ASK{what: "\x01ab"}`},
		{"peer", "08 0003 01 6162", `ANSWER{is: "ab", more: 1}`},
		{"", "08 0003 01 6162", `ASK{what: "\x01ab"}`},
		{"", "08 0000", `ASK{what: ""}`},
		{"peer", "08 0000", "bad ANSWER frame at byte 0: 3 bytes, at least 4 needed"},
		{"other", "08 0005 0102030405", "bad ASK frame, field what at byte 3: count 5 exceeds 4"},
		{"peer", "07 0001 03", "bad NONE frame at byte 3: 1 bytes follow the message"},
		{"", "07 0003 03 0102", "bad PING frame at byte 3: value 3, expected 1"},
	} {
		frame, err := hex.DecodeString(strings.ReplaceAll(x.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		m, slots, werr := interp.DecodeFrameTo(p, strs, frame, x.to)
		got := werr.Error()
		if werr.Problem == 0 {
			got = string(interp.AppendMessage(nil, strs, m, slots))
		}
		var dst parts.Message
		generated := ""
		if err := parts.DecodeMessageTo(x.to, frame, &dst); err != nil {
			generated = err.Error()
		} else {
			b, err := parts.AppendMessage(nil, &dst)
			if err != nil || !bytes.Equal(b, frame) {
				t.Errorf("% x is written again as % x, %v", frame, b, err)
			}
			generated = x.want[:strings.IndexByte(x.want, '{')]
			if dst.Kind.String() == generated {
				generated = x.want
			}
		}
		if got != x.want || generated != x.want {
			t.Errorf("%s to %q: the interpreter says %s, the generated code %s, not %s",
				x.hex, x.to, got, generated, x.want)
		}
	}
	other := parts.NewOtherRunner()
	other.Start()
	if r, err := other.Frame(0, []byte{8, 0, 3, 1, 'a', 'b'}); err != nil || r.Code != fsm.Took {
		t.Errorf("the role other does not take ASK: %v, %v", r, err)
	}
}
