package driver

import "bytes"

// foreigners are the beginnings of what other programs say first, by what they speak.
var foreigners = []struct{ begins, speaks string }{
	{"HTTP/", "HTTP, as web servers do"},
	{"GET ", "HTTP, as browsers do"},
	{"HEAD ", "HTTP, as browsers do"},
	{"POST ", "HTTP, as browsers do"},
	{"OPTIONS ", "HTTP, as browsers do"},
	{"CONNECT ", "HTTP, as browsers do"},
	{"PRI * HTTP/2", "HTTP/2"},
	{"SSH-", "SSH"},
	{"\x16\x03", "TLS"},
	{"220 ", "SMTP or FTP, as servers of mail and files do"},
	{"* OK ", "IMAP, as servers of mail do"},
	{"RFB ", "VNC"},
}

// stranger says what a peer seems to be that does not speak the protocol; empty if that is not known.
func (e *Error) stranger() string {
	switch e.Kind {
	case NoHandshake:
		return "is the other side a program of this protocol, and its port the right one?"
	case Malformed:
		for _, f := range foreigners {
			if bytes.HasPrefix(e.Frame, []byte(f.begins)) {
				return "the other side seems to speak " + f.speaks + ": check address and port"
			}
		}
	}
	return ""
}
