package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/parley-go/parley/gen/files"
)

// captureMagic are the first bytes of packet captures: pcap in both orders of bytes, with micro-
// and nanoseconds, and pcapng.
var captureMagic = []string{"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1", "\xa1\xb2\x3c\x4d",
	"\x0a\x0d\x0d\x0a"}

// RunIn says what a file holds if it is a run and no specification: "a record" of the driver, or "a
// packet capture"; else, and if it cannot be read, "". It looks at the first kilobytes.
func RunIn(file string) string {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "" // reading from a pipe takes from it
	}
	f, err := files.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, 1<<16)
	n, err := io.ReadFull(f, start)
	if err != nil && err != io.ErrUnexpectedEOF {
		return ""
	}
	switch start = start[:n]; {
	case IsRecord(start):
		return "a record"
	case n >= 4 && slices.Contains(captureMagic, string(start[:4])):
		return "a packet capture"
	}
	return ""
}

// IsRecord reports whether a text begins as the records of the driver do.
func IsRecord(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var head struct{ Parley string }
	return json.Unmarshal(line, &head) == nil && head.Parley == "trace"
}
