package traffic

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/dissect"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// twist is a record in which one frame that was sent, the nth over a channel, has another byte.
type twist struct {
	trace.Sink
	channel, nth, at int
	is               byte
}

func (w *twist) Step(s *trace.Step) {
	other := *s
	other.Effects = nil
	for _, e := range s.Effects {
		if e.Kind == fsm.Send && e.Channel == w.channel {
			if w.nth--; w.nth == 0 {
				e.Frame = bytes.Clone(e.Frame)
				e.Frame[w.at] = w.is
			}
		}
		other.Effects = append(other.Effects, e)
	}
	w.Sink.Step(&other)
}

type gneGame struct {
	capture, record bytes.Buffer
	twisted         [3]bytes.Buffer
	at              map[string]Port
}

// deviations are what the twisted captures of a game have: another byte in a frame of the client.
var deviations = []struct {
	channel, nth, at int
	is               byte
	want             []string
}{
	{1, 2, 1, 3, []string{"NOT a run", "from the client over places: PLACE{frame: 3, place: 8}"}},
	{1, 1, 0, 19, []string{"the client's stream over places: bad frame at byte 0: no message has type 19"}},
	{0, 1, 4, 2, []string{"NOT a run", "from the client over events: EXIT"}},
}

// playGNE plays a game of GNE over a TCP connection and two UDP sockets of this computer, and records it at the client.
func playGNE(t *testing.T) *gneGame {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Skip(err)
	}
	ours, err := udp.Open("udp4", "127.0.0.1:0",
		udp.Config{Peers: []string{theirs.LocalAddr().String()}, Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	local := netip.MustParseAddrPort(ours.LocalAddr().String())
	remote := netip.MustParseAddrPort(theirs.LocalAddr().String())
	g := &gneGame{at: map[string]Port{"events": {"tcp", uint16(l.Addr().(*net.TCPAddr).Port)},
		"places": {"udp", remote.Port()}}}
	sink := func(b *bytes.Buffer) *trace.Capture {
		return trace.NewCapture(b, trace.PcapMeta{Proto: "tcp"},
			trace.PcapMeta{Proto: "udp", Local: local, Remote: remote})
	}
	sinks := []trace.Sink{trace.NewWriter(&g.record), sink(&g.capture)}
	for i, d := range deviations {
		sinks = append(sinks, &twist{sink(&g.twisted[i]), d.channel, d.nth, d.at, d.is})
	}
	told := make(chan string, 100)
	c := driver.New(gne.NewClientRunner(), driver.Options[*gne.ClientRunner]{Trace: sinks,
		OnReport: func(r *gne.ClientRunner, i int) { told <- "client " + string(r.AppendEffect(nil, i)) },
		OnLink: func(_ *gne.ClientRunner, _ fsm.Peer, up bool, _ error) {
			if up {
				told <- "client link"
			}
		}})
	s := driver.New(gne.NewServerRunner(), driver.Options[*gne.ServerRunner]{
		OnReport: func(r *gne.ServerRunner, i int) { told <- "server " + string(r.AppendEffect(nil, i)) }})
	for _, err := range []error{
		c.AttachOn(0, "events", tcp.New(near.(*net.TCPConn), tcp.Config{})), c.AttachOn(0, "places", ours),
		s.AttachOn(0, "events", tcp.New(far.(*net.TCPConn), tcp.Config{})), s.AttachOn(0, "places", theirs)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	go c.Run(t.Context())
	go s.Run(t.Context())
	hears := func(want ...string) {
		t.Helper()
		for range want {
			select {
			case got := <-told:
				if !strings.Contains(strings.Join(want, "|"), got) {
					t.Fatalf("%q, not %q", got, want)
				}
			case <-time.After(time.Minute):
				t.Fatalf("nobody says %q", want)
			}
		}
	}
	client := func(f func(r *gne.ClientRunner) fsm.Result) {
		t.Helper()
		if res, err := c.Do(t.Context(), f); err != nil || res.Code != fsm.Took {
			t.Fatal(res, err)
		}
	}
	hears("client link")
	client(func(r *gne.ClientRunner) fsm.Result { return r.Enter() })
	hears("client report entered", "server report entered")
	client(func(r *gne.ClientRunner) fsm.Result { return r.Move(7) })
	hears("server report moved{place: 7}")
	client(func(r *gne.ClientRunner) fsm.Result { return r.Move(8) })
	hears("server report moved{place: 8}")
	if _, err := s.Do(t.Context(), func(r *gne.ServerRunner) fsm.Result { return r.Move(9) }); err != nil {
		t.Fatal(err)
	}
	hears("client report moved{place: 9}")
	client(func(r *gne.ClientRunner) fsm.Result { return r.Leave() })
	hears("client report gone", "server report gone")
	c.Stop()
	<-c.Done()
	s.Stop()
	<-s.Done()
	return g
}

func gneModel(t *testing.T) *model.Protocol {
	t.Helper()
	p, diags := compile.Load("../../../specs/library/gne/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	return p
}

// TestTwoChannels: a game over a TCP connection and UDP sockets beside it, in frames of two forms, is one run; another
// number or type in a frame of either channel is none, and the report says over which channel it went.
func TestTwoChannels(t *testing.T) {
	t.Parallel()
	g, p := playGNE(t), gneModel(t)
	read := func(b []byte, o Options) (string, *Report) {
		t.Helper()
		r, err := Read(t.Context(), p, "game", bytes.NewReader(b), o)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		r.WriteText(&text, false)
		return text.String(), r
	}
	text, r := read(g.capture.Bytes(), Options{Channels: g.at})
	if !r.Accepted() || len(r.Conns) != 1 || len(r.Conns[0].Beside) != 1 || len(r.Conns[0].Recording.Frames) != 6 {
		t.Fatal(text)
	}
	for _, want := range []string{"client as client: a run, 4 sent and 2 received frames",
		"server as server: a run, 2 sent and 4 received frames", "places beside it: udp 127.0.0.1:"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
	if text, r = read(g.record.Bytes(), Options{}); !r.Accepted() {
		t.Error(text)
	}
	for i, d := range deviations {
		text, r := read(g.twisted[i].Bytes(), Options{Channels: g.at})
		if r.Accepted() {
			t.Errorf("the deviation %d is accepted:\n%s", i, text)
		}
		for _, want := range d.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not said:\n%s", want, text)
			}
		}
	}
	dissectBoth(t, g, p)
	// The frame of a record is read in its channel.
	wrong := strings.Replace(g.record.String(), `"channel":1`, `"channel":0`, 1)
	if text, r := read([]byte(wrong), Options{}); r.Accepted() || wrong == g.record.String() {
		t.Errorf("a record of the wrong channel is accepted:\n%s", text)
	}
}

// TestWhereChannels: what does not say where each channel is, is refused, once it is known to be a capture.
func TestWhereChannels(t *testing.T) {
	t.Parallel()
	p := gneModel(t)
	for _, tt := range []struct {
		at    map[string]Port
		ports []uint16
		want  string
	}{
		{nil, nil, "add --channel events=tcp:PORT --channel places=udp:PORT"},
		{map[string]Port{"events": {"tcp", 1}}, nil, "add --channel places=udp:PORT"},
		{map[string]Port{"events": {"tcp", 1}, "places": {"tcp", 1}}, nil, "events and places are both at tcp:1"},
		{map[string]Port{"events": {"tcp", 1}, "places": {"udp", 1}, "x": {"udp", 2}}, nil, `has no channel "x"`},
		{nil, []uint16{7}, "instead of --port"},
	} {
		o := Options{Channels: tt.at, Ports: tt.ports}
		head := "\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + strings.Repeat("\x00", 8) + "\xff\xff\x00\x00\x01\x00\x00\x00"
		_, err := Read(t.Context(), p, "game", strings.NewReader(head), o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, not %q", tt.at, err, tt.want)
		}
	}
	for _, tt := range []struct{ text, channel, want string }{
		{"", "", "the capture file is empty"},
		{"junk\n{}", "", "records (.jsonl) are read, too"},
		{"{}", "evnts", `has no channel "evnts"; it has events and places`},
	} {
		o := Options{}
		if tt.channel != "" {
			o.Channels = map[string]Port{tt.channel: {"tcp", 7000}}
		}
		_, err := Read(t.Context(), p, "game", strings.NewReader(tt.text), o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, not %q", tt.text, err, tt.want)
		}
	}
}

// dissectBoth has tshark take the capture apart, with a dissector for each channel.
func dissectBoth(t *testing.T, g *gneGame, p *model.Protocol) {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Log("no tshark: the dissectors are not tried")
		return
	}
	dir := t.TempDir()
	args := []string{"-r", filepath.Join(dir, "game.pcapng"), "-T", "fields", "-e", "gne_events.text",
		"-e", "gne_places.text"}
	files := map[string][]byte{"game.pcapng": g.capture.Bytes()}
	for name, at := range g.at {
		script, err := dissect.Wireshark(p, dissect.Options{Transport: at.Proto, Port: int(at.Port), Channel: name})
		if err != nil {
			t.Fatal(err)
		}
		files[name+".lua"] = script
		args = append(args, "-X", "lua_script:"+filepath.Join(dir, name+".lua"))
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(tshark, args...).CombinedOutput()
	want := []string{"ENTER", "ENTERED", "PLACE{frame: 1, place: 7}", "PLACE{frame: 2, place: 8}",
		"PLACE{frame: 1, place: 9}", "EXIT"}
	var got []string
	for _, line := range strings.Split(string(out), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Running as") {
			got = append(got, line)
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("tshark reads %q (%v)\n%s", got, err, out)
	}
}
