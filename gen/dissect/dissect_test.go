package dissect

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

func load(t *testing.T, wire, message string) *model.Protocol {
	t.Helper()
	spec := "protocol: little\ndoc: 'a \"small\" one'\ntypes: {N: 0..9, E: {record: {n: N}}, L: {list: E, " +
		"max: 3}}\n" + wire + "\nmessages: {GO: " + message +
		"}\nroles: {peer: {initial: here, states: {here: {GO: ignore}}}}\n"
	p, list := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(spec)}}})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

const (
	withLength = "wire: {header: [length: u16, type: u8], max: 20}"
	noLength   = "wire: {header: [type: u8], max: 20}"
	plain      = `{id: 1, doc: "says \"go\" \\ now", fields: {n: N}, wire: [n: u8]}`
)

// TestTransport is what runs where: frames without a length are datagrams.
func TestTransport(t *testing.T) {
	for _, x := range []struct {
		wire string
		o    Options
		want string // in the output, or in the error
	}{
		{withLength, Options{Port: 7}, `transport = "tcp", port = 7`},
		{withLength, Options{Port: 7, Transport: "udp"}, `transport = "udp"`},
		{noLength, Options{Port: 7}, `transport = "udp"`},
		{noLength, Options{Port: 7, Transport: "tcp"}, "its frames have no length"},
		{withLength, Options{Port: 70000}, "a port is 1 to 65535"},
		{withLength, Options{Port: 7, Transport: "ipx"}, "there are tcp and udp"},
	} {
		out, err := Wireshark(load(t, x.wire, plain), x.o)
		text := string(out)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, x.want) {
			t.Errorf("%s, %+v: no %q in %.200s", x.wire, x.o, x.want, text)
		}
	}
}

// TestTextsAreQuoted: whatever a document says stays inside its text, and the same model gives the
// same bytes.
func TestTextsAreQuoted(t *testing.T) {
	out, err := Wireshark(load(t, withLength, plain), Options{Port: 7})
	if err != nil || !bytes.Contains(out, []byte(`doc = "says \"go\" \\ now"`)) {
		t.Errorf("%v\n%.800s", err, out)
	}
	if again, _ := Wireshark(load(t, withLength, plain), Options{Port: 7}); !bytes.Equal(out, again) {
		t.Error("written again it is another script")
	}
	if got := quote("a\n\"\\\x00"); got != `"a\010\"\\\000"` {
		t.Errorf("quoted it is %s", got)
	}
}

// TestRefused names the item that the engine cannot take apart.
func TestRefused(t *testing.T) {
	p := load(t, withLength, "{id: 1, fields: {l: L}, wire: [count l: u8, each l: {rows: 3, row: [n: u8]}]}")
	if _, err := Wireshark(p, Options{Port: 7}); err == nil || !strings.Contains(err.Error(), "spec.yaml:5:") {
		t.Errorf("rows were taken, or refused without their place: %v", err)
	}
}

// TestChannel: each of several channels has a dissector of its own, with its messages and its wire.
func TestChannel(t *testing.T) {
	p := load(t, withLength+"\nchannels: {state: {order: fifo}, Beside: {lossy: true, wire: {header: [type: u8], "+
		"max: 9}}}", "{id: 1, fields: {n: N}, wire: [n: u8], channel: Beside}")
	for channel, want := range map[string]string{
		"Beside": `transport = "udp", port = 7`, "state": `name = "little_state"`,
		"": "say which (--channel)", "x": `has no channel "x"; it has state and Beside`,
	} {
		out, err := Wireshark(p, Options{Port: 7, Channel: channel})
		text := string(out)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) || channel == "state" && strings.Contains(text, `name = "GO"`) {
			t.Errorf("%s: no %q in %.200s", channel, want, text)
		}
	}
	if _, err := Wireshark(load(t, withLength, plain), Options{Port: 7, Channel: "x"}); err == nil {
		t.Error("a channel of a protocol with one was taken")
	}
}
