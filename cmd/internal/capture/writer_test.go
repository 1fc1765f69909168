package capture

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parley-go/parley/runtime/trace"
	"pgregory.net/rapid"
)

// TestReadsWhatTraceWrites writes random lives of several links with the trace package and reads
// them back: the same bytes, in the same order, with the same times and comments.
func TestReadsWhatTraceWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links, metas := rapid.IntRange(1, 3).Draw(t, "links"), []trace.PcapMeta{}
		for i := range links {
			m := trace.PcapMeta{Proto: rapid.SampledFrom([]string{"tcp", "udp"}).Draw(t, "proto"),
				Accepted: rapid.Bool().Draw(t, "accepted")}
			m.Local = netip.AddrPortFrom(netip.Addr{}, 50000)
			m.Remote = netip.AddrPortFrom(netip.Addr{}, uint16(7001+i))
			if m.Accepted {
				m.Local, m.Remote = netip.AddrPortFrom(netip.Addr{}, 7000),
					netip.AddrPortFrom(netip.Addr{}, uint16(50001+i))
			}
			if rapid.Bool().Draw(t, "six") {
				m.Local = netip.AddrPortFrom(netip.MustParseAddr("fd00::1"), m.Local.Port())
			}
			metas = append(metas, m)
		}
		w := newTwin(t, metas)
		t.Repeat(map[string]func(*rapid.T){
			"open":  w.openLink,
			"frame": w.frame,
			"close": w.close,
			"reset": w.resetLink,
		})
		c, err := Read(bytes.NewReader(w.file.Bytes()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(w.want.String(), told(c, metas)); d != "" {
			t.Fatalf("events (-written +read):\n%s", d)
		}
	})
}

// twin writes to a file and notes beside it what a reader should find.
type twin struct {
	file  bytes.Buffer
	links []*trace.PcapNG
	udp   []bool
	state []struct {
		open, ever bool
		closed     [2]bool
	}
	want strings.Builder
	ms   int
}

func newTwin(t *rapid.T, metas []trace.PcapMeta) *twin {
	w := &twin{}
	first, err := trace.NewPcapNG(&w.file, metas[0])
	if err != nil {
		t.Fatal(err)
	}
	w.links = append(w.links, first)
	for _, m := range metas[1:] {
		l, err := first.Link(m)
		if err != nil {
			t.Fatal(err)
		}
		w.links = append(w.links, l)
	}
	for _, m := range metas {
		w.udp = append(w.udp, m.Proto == "udp")
	}
	w.state = make([]struct {
		open, ever bool
		closed     [2]bool
	}, len(metas))
	return w
}

func (w *twin) now() time.Time { return epoch.Add(time.Duration(w.ms) * time.Millisecond) }

func (w *twin) draw(t *rapid.T) (link int, dir trace.PcapDir, comment string) {
	w.ms++
	return rapid.IntRange(0, len(w.links)-1).Draw(t, "link"), trace.PcapDir(rapid.IntRange(0, 1).Draw(t, "dir")),
		rapid.SampledFrom([]string{"", "waiting → localOk", "two\nlines"}).Draw(t, "comment")
}

func (w *twin) note(link int, dir trace.PcapDir, format string, args ...any) {
	fmt.Fprintf(&w.want, "%d %d %v %s\n", link, dir, w.now().Sub(epoch), fmt.Sprintf(format, args...))
}

func (w *twin) openLink(t *rapid.T) {
	i, _, comment := w.draw(t)
	w.ok(t, w.links[i].Open(w.now(), comment))
	if s := &w.state[i]; !w.udp[i] && !s.open {
		s.open, s.ever, s.closed = true, true, [2]bool{}
	}
}

func (w *twin) frame(t *rapid.T) {
	i, dir, comment := w.draw(t)
	n := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 40_000)).Draw(t, "size")
	data := bytes.Repeat([]byte{byte(w.ms)}, n)
	err := w.links[i].Frame(dir, w.now(), data, comment)
	s := &w.state[i]
	if !w.udp[i] && n > 0 && (s.ever && !s.open || s.closed[dir]) {
		if err != trace.ErrPcapClosed {
			t.Fatalf("a frame on a closed link: %v", err)
		}
		return
	}
	w.ok(t, err)
	if w.udp[i] {
		w.note(i, dir, "%d %q", n, comment)
		return
	}
	if n == 0 {
		return
	}
	s.open, s.ever = true, true
	for ; n > 0; n -= 16 << 10 {
		w.note(i, dir, "%d %q", min(n, 16<<10), comment)
		comment = ""
	}
}

func (w *twin) close(t *rapid.T) {
	i, dir, comment := w.draw(t)
	w.ok(t, w.links[i].Close(dir, w.now(), comment))
	if s := &w.state[i]; !w.udp[i] && s.open && !s.closed[dir] {
		s.closed[dir] = true
		s.open = !s.closed[1-dir]
		w.note(i, dir, "close %q", comment)
	}
}

func (w *twin) resetLink(t *rapid.T) {
	i, dir, comment := w.draw(t)
	w.ok(t, w.links[i].Reset(dir, w.now(), comment))
	if s := &w.state[i]; !w.udp[i] && s.open {
		s.open = false
		w.note(i, dir, "reset %q", comment)
	}
}

func (w *twin) ok(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// told writes a capture's events the way twin.note does. Open is left out: the comment of a
// handshake is at its first packet, the event at its second.
func told(c *Capture, metas []trace.PcapMeta) string {
	var b strings.Builder
	for _, e := range c.Events {
		conn := c.Conns[e.Conn]
		link, sender := 0, conn.Server.Port()
		if e.FromClient {
			sender = conn.Client.Port()
		}
		for i, m := range metas {
			if p := m.Remote.Port(); p == conn.Client.Port() || p == conn.Server.Port() {
				link = i
			}
		}
		dir := trace.PcapReceived
		if sender == metas[link].Local.Port() {
			dir = trace.PcapSent
		}
		what := e.Kind.String()
		switch e.Kind {
		case Open:
			continue
		case Data:
			what = fmt.Sprint(len(e.Data))
		case Gap:
			what = "gap: " + e.Why
		}
		fmt.Fprintf(&b, "%d %d %v %s %q\n", link, dir, e.Time.Sub(epoch), what, e.Comment)
	}
	return b.String()
}
