package conform

import (
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/machines/registration"
)

// The requests and the page as SSR's description has them; the markers are the specification's own.
var registrationLines = []struct{ line, message string }{
	{"GET http://a/reg.cgi?version=1.2&action=reg&name=arena&port=4000&cont=EU",
		`REG{script: "http://a/reg.cgi", version: "1.2", name: "arena", port: 4000, region: "EU"}`},
	{"GET http://a/reg.cgi?action=unreg&port=4000", `UNREG{script: "http://a/reg.cgi", port: 4000}`},
	{"GET http://a/reg.cgi", `LIST{script: "http://a/reg.cgi"}`},
	{"<!-- servers -->", "FIRST"},
	{"1.2;10.0.0.255;4000;arena;EU",
		`ENTRY{version: "1.2", ip: {a: 10, b: 0, c: 0, d: 255}, port: 4000, name: "arena", region: "EU"}`},
	{"<!-- end -->", "LAST"},
	{"<!-- done -->", "DONE"},
	{"script: http://b/reg.cgi", `LOCATION{script: "http://b/reg.cgi"}`},
	{"</html>", "BOTTOM"},
	// A name that would forge an entry, a port and an address that are none, and other lines of a page.
	{"1.2;10.0.0.1;4000;arena;EU;1.2", `OTHER{text: "1.2;10.0.0.1;4000;arena;EU;1.2"}`},
	{"1.2;10.0.0.256;4000;arena;EU", `OTHER{text: "1.2;10.0.0.256;4000;arena;EU"}`},
	{"1.2;10.0.0.1;65536;arena;EU", `OTHER{text: "1.2;10.0.0.1;65536;arena;EU"}`},
	{"HTTP/1.0 200 OK", `OTHER{text: "HTTP/1.0 200 OK"}`},
	{"<h1>Games</h1>", `OTHER{text: "<h1>Games</h1>"}`},
}

// TestRegistrationLines reads and writes each line with the interpreter's codec and the generated one.
func TestRegistrationLines(t *testing.T) {
	p := load(t, "../../specs/registration/spec.yaml", compile.Options{})
	strs := &interp.Strings{}
	for _, c := range registrationLines {
		m, slots, werr := interp.DecodeFrame(p, strs, []byte(c.line+"\r\n"))
		if werr.Problem != 0 {
			t.Fatalf("%q: %v", c.line, werr)
		}
		var msg registration.Message
		if err := registration.DecodeMessage([]byte(c.line+"\n"), &msg); err != nil {
			t.Fatal(err)
		}
		if a, b := string(interp.AppendMessage(nil, strs, m, slots)), msg.String(); a != c.message || b != c.message {
			t.Errorf("%q is read as\n%s by the interpreter,\n%s by the generated codec", c.line, a, b)
		}
		a, _ := interp.AppendFrame(p, strs, nil, m, slots)
		if b, err := registration.AppendMessage(nil, &msg); err != nil || string(a) != c.line+"\n" ||
			string(b) != c.line+"\n" {
			t.Errorf("%s is written as\n%q by the interpreter,\n%q by the generated codec (%v)", c.message, a, b, err)
		}
	}
}
