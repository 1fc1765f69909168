package compile

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestPhases: what is wrong with the phases of a stream is said, and what is not wrong is not.
func TestPhases(t *testing.T) {
	b, err := os.ReadFile("../../specs/library/socks5/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, new, want string }{
		{"", "", ""},
		{"phases: [greeting, request, data]", "phases: [greeting, request, data, more]",
			"no message leads to the phase `more`"},
		{"    phase: greeting\n    next: request\n    fields: {methods", "    phase: greeting\n    fields: {methods",
			"what `client` sends never comes to the phase of `LOGIN`"},
		{"    phase: greeting\n    next: request\n    fields: {methods", "    fields: {methods",
			"message `METHODS` does not say in which phase it is sent"},
		{"next: data", "next: date", "there is no phase `date`"},
		{"channel: {order: fifo,", "channel: {order: fifo, lossy: true,", "this channel may lose"},
		{"phase: greeting\n    next: request\n    fields: {methods",
			"phase: [greeting, request]\n    next: request\n    fields: {methods",
			"a frame can be `METHODS` as well as `REQUEST`"},
		{`send: "METHOD{method: free}"`, `send: "STATUS{status: 0}"`,
			"`STATUS` is sent where its stream is in the phase `greeting`"},
	} {
		text := strings.Replace(string(b), x.old, x.new, 1)
		if x.old != "" && text == string(b) {
			t.Fatalf("%q is not in the specification", x.old)
		}
		p, list := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
		said := ""
		for _, d := range list {
			said += d.Message + "\n"
		}
		if (p != nil) != (x.want == "") || !strings.Contains(said, x.want) {
			t.Errorf("%q: %s\nnot: %s", x.new, said, x.want)
		}
	}
}
