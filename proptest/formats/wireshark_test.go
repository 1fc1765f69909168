package formats

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/dissect"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/wire"
)

// malformed stands for a frame that is none.
const malformed = "malformed"

// TestWireshark holds dissectors to the reference codec on drawn formats: one run of tshark with the dissectors of
// all, each at a port of its own, reads a capture of all frames.
func TestWireshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: dissectors are written and not run")
	}
	dir := t.TempDir()
	b := drawn(seed(t, 500), race.Draws(6, 20), 12, 3)
	var capture bytes.Buffer
	var args []string
	var fields []string
	taken := make([]bool, len(b.formats))
	for i, p := range b.formats {
		named := *p
		named.Name = fmt.Sprint("drawn", i)
		script, err := dissect.Wireshark(&named, dissect.Options{Transport: "udp", Port: 20000 + i})
		if err != nil {
			continue // some items dissectors refuse
		}
		taken[i] = true
		lua := filepath.Join(dir, named.Name+".lua")
		if err := os.WriteFile(lua, script, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-X", "lua_script:"+lua)
		fields = append(fields, "-e", named.Name+".text", "-e", named.Name+".malformed")
	}
	var asked []int
	for i, q := range b.requests {
		if q.Write || len(q.Frame) == 0 || !taken[q.Codec] {
			continue
		}
		if b.want[i].Err.Problem == wire.BadSum && summed(b.formats[q.Codec].Wire) {
			continue // the header's checksum, which may be that of other bytes behind a link, is not verified
		}
		asked = append(asked, i)
	}
	write(t, &capture, b, asked)
	file := filepath.Join(dir, "frames.pcapng")
	if err := os.WriteFile(file, capture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tshark", append(append(args, "-r", file, "-T", "fields", "-E", "occurrence=a", "-E",
		"aggregator=\x02", "-E", "separator=\x01"), append(fields, "-e", "_ws.expert.message")...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || bytes.Contains(out, []byte("Lua Error")) || strings.Contains(stderr.String(), "Lua:") {
		t.Fatalf("tshark: %v\n%s\n%s", err, stderr.String(), out)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(asked) {
		t.Fatalf("tshark has %d packets, not %d", len(lines), len(asked))
	}
	good, bad := 0, map[int]bool{}
	for k, i := range asked {
		var got []string
		columns := strings.Split(lines[k], "\x01")
		for j, field := range columns[:len(columns)-1] {
			if field != "" && j%2 == 0 {
				got = append(got, strings.Split(field, "\x02")...)
			} else if field != "" {
				got = append(got, malformed)
			}
		}
		want := b.want[i].Text
		if want == "" {
			want = malformed
		} else {
			good++
		}
		if codec := b.requests[i].Codec; strings.Join(got, " and ") != want && !bad[codec] {
			bad[codec] = true
			t.Errorf("%s\n% x is\n%s (%s)\nin Wireshark, and in the reference\n%s %v", b.texts[codec],
				b.requests[i].Frame, strings.Join(got, " and "), columns[len(columns)-1], want, b.want[i].Err)
		}
	}
	t.Logf("%d formats, %d frames, %d of them accepted", len(args)/2, len(asked), good)
	if good == 0 || len(args) == 0 {
		t.Error("nothing was dissected")
	}
}

// summed reports whether there is a checksum in the header.
func summed(w *model.Wire) bool {
	return slices.ContainsFunc(w.Header, func(item model.WireItem) bool {
		_, ok := item.(*model.WireChecksum)
		return ok
	})
}

// write writes a capture of the frames that were asked about, each to the port of its format.
func write(t *testing.T, to *bytes.Buffer, b *batch, asked []int) {
	now := time.Unix(1, 0)
	var w *trace.PcapNG
	last := -1
	for _, i := range asked {
		q := b.requests[i]
		if q.Codec != last {
			last = q.Codec
			var err error
			w, err = trace.NewPcapNG(to, trace.PcapMeta{Proto: "udp", Local: netip.MustParseAddrPort("127.0.0.1:40000"),
				Remote: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(20000+q.Codec))})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Open(now, ""); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Millisecond)
		if err := w.Frame(trace.PcapSent, now, q.Frame, ""); err != nil {
			t.Fatal(err)
		}
	}
}
