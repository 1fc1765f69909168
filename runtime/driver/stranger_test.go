package driver

import (
	"strings"
	"testing"
)

// Who speaks another protocol is named, and nobody else is suspected.
func TestStranger(t *testing.T) {
	for frame, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n": "HTTP, as web servers do: check address and port",
		"GET / HTTP/1.1\r\n":           "HTTP, as browsers do: check",
		"SSH-2.0-OpenSSH_9.6\r\n":      "speak SSH: check",
		"\x16\x03\x01\x02\x00\x01":     "speak TLS: check",
		"220 mail.example ESMTP\r\n":   "SMTP",
		"\x00\x16\x03":                 "",
		"HTT":                          "",
		"":                             "",
	} {
		e := &Error{Kind: Malformed, Protocol: "p", Role: "r", State: "s", Frame: []byte(frame)}
		if s := e.Error(); want == "" && strings.Contains(s, "seems") || !strings.Contains(s, want) {
			t.Errorf("%q: %s", frame, s)
		}
		if e.Kind = Refused; strings.Contains(e.Error(), "seems") {
			t.Errorf("%q is a message: %v", frame, e)
		}
	}
	e := &Error{Kind: NoHandshake, Protocol: "p", Role: "r", State: "s"}
	if s := e.Error(); !strings.HasSuffix(s,
		"is the other side a program of this protocol, and its port the right one?") {
		t.Error(s)
	}
}
