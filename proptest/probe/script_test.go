package probe

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestScripts: the script of a finding is read again and shows the same; of a program without the mistake it shows
// nothing. The capture is one that tshark reads.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := load(t, "specs/confirm/spec.yaml")
	wrong := load(t, "specs/confirm/spec.yaml", "CANCEL: {send: CANCELACK, goto: waiting}", "CANCEL: {goto: waiting}")
	o := options()
	o.Passive, o.Patience, o.Findings, o.Hostile = true, patienceWith(Hung), 1, -1
	v := &server{p: wrong, quiet: true}
	address := v.listen(t)
	r, err := Run(t.Context(), p, address, o)
	if err != nil || len(r.Findings) != 1 {
		t.Fatal(err, r)
	}
	script := r.File(r.Findings[0])
	const want = "# a is played by fsmgen probe, b is the program: --target b\n" +
		"check pair\na confirm\na cancel\n----\nb: hung: CANCELACK\n"
	if script != want {
		t.Errorf("the script is\n%s", script)
	}
	list, err := Repeat(t.Context(), p, address, []byte(script), o)
	if err != nil || len(list) != 1 || list[0].Shows != list[0].Wants || len(list[0].Report.Findings) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	o.Patience = time.Minute
	well := &server{p: p, quiet: true}
	list, err = Repeat(t.Context(), p, well.listen(t), []byte(script), o)
	if err != nil || len(list) != 1 || list[0].Shows != "b: nothing is wrong" || list[0].Report.Failed() {
		t.Errorf("%+v, %v", list, err)
	}

	var pcap bytes.Buffer
	if err := r.Findings[0].WriteCapture(&pcap); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed here")
	}
	file := filepath.Join(t.TempDir(), "fault.pcapng")
	if err := os.WriteFile(file, pcap.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	read := exec.Command(path, "-r", file, "-T", "fields", "-e", "tcp.payload", "-Y", "tcp.payload")
	out, err := read.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "00040000\n00040002") {
		t.Errorf("tshark: %v\n%s", err, out)
	}
}

// TestLines: every act is written as a line that is read as the same act.
func TestLines(t *testing.T) {
	g, err := newGame(load(t, "specs/confirm/spec.yaml"), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"a confirm", "at once a confirm", "forge a -> b CONFIRM1", "malformed a -> b 00ff",
		"malformed a -> b ", "again a -> b", "at once again a -> b", "wait b", "close a -> b", "break a -> b",
		"return a -> b"} {
		a, err := g.parseLine(strings.TrimSpace(line))
		if err != nil {
			t.Error(err)
		} else if got := g.line(a); got != line {
			t.Errorf("%q is written as %q", line, got)
		}
	}
	if line := g.line(act{kind: resume, who: g.they}); line != "return a -> b" {
		t.Errorf("what nobody does of their own is written as %q", line)
	}
	for _, line := range []string{"", "b confirm", "wait a", "wait", "forge b -> a CONFIRM1", "malformed a -> b 0",
		"close a -> b now", "deliver a -> b"} {
		if _, err := g.parseLine(line); err == nil {
			t.Errorf("%q is read", line)
		}
	}
	for _, text := range []string{"", "127.0.0.1", ":80", "127.0.0.1:", "udp:", "tcp:7000"} {
		if _, _, err := parseAddress(text, false); err == nil {
			t.Errorf("%q is an address", text)
		}
	}
}
