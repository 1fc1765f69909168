package conform

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/machines/socks5"
	"github.com/parley-go/parley/proptest/conform/sample/phases"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/wire"
)

// phasedCodec is the codec of a package whose streams have phases.
type phasedCodec struct {
	size func(to string, phase uint8, b []byte) (int, error)
	// again reads a frame, and writes it; name is its message, and next the phase behind it.
	again func(to string, phase uint8, b []byte) (name string, frame []byte, next uint8, err error)
}

var phased = map[string]phasedCodec{
	"testdata/phases/spec.yaml": {phases.FrameSizeIn,
		func(to string, phase uint8, b []byte) (string, []byte, uint8, error) {
			var m phases.Message
			if err := phases.DecodeMessageIn(to, phase, b, &m); err != nil {
				return "", nil, phase, err
			}
			frame, err := phases.AppendMessage(nil, &m)
			return m.Kind.String(), frame, phases.PhaseAfter(phase, m.Kind), err
		}},
	"../../specs/library/socks5/spec.yaml": {socks5.FrameSizeIn,
		func(to string, phase uint8, b []byte) (string, []byte, uint8, error) {
			var m socks5.Message
			if err := socks5.DecodeMessageIn(to, phase, b, &m); err != nil {
				return "", nil, phase, err
			}
			frame, err := socks5.AppendMessage(nil, &m)
			return m.Kind.String(), frame, socks5.PhaseAfter(phase, m.Kind), err
		}},
}

// phasedPair is the codec of a package and the reference codec.
type phasedPair struct {
	phasedCodec
	file string
	p    *model.Protocol
	strs *interp.Strings
}

func phasedPairs(t testing.TB) (list []phasedPair) {
	for _, file := range slices.Sorted(maps.Keys(phased)) {
		list = append(list, phasedPair{phased[file], file, load(t, file, compile.Options{}), &interp.Strings{}})
	}
	return list
}

// held compares what both make of bytes that a role receives in a phase: the size, the message, the error, what is
// written of it again, and the phase behind it. It returns the message; nil if the bytes are none.
func (c *phasedPair) held(t testing.TB, to string, phase int, frame []byte) *model.Message {
	t.Helper()
	where := c.file + ", " + c.p.Wire.Phases[phase] + ", to " + to
	if c.p.Raw(phase, "") {
		if _, err := c.size(to, uint8(phase), frame); err == nil {
			t.Fatalf("%s: % x begins a frame", where, frame)
		}
		return nil
	}
	view := c.p.In(phase)
	size, serr := interp.FrameSizeTo(view, frame, to)
	if n, err := c.size(to, uint8(phase), frame); n != size || !same(err, serr) {
		t.Fatalf("%s: % x has the size %d, %v; %d, %v in the reference", where, frame, n, err, size, serr)
	}
	got, slots, gerr := interp.DecodeFrameTo(view, c.strs, frame, to)
	name, again, next, err := c.again(to, uint8(phase), frame)
	if !same(err, gerr) {
		t.Fatalf("%s: % x: %v, not %v", where, frame, err, gerr)
	}
	if err != nil {
		return nil
	}
	want, werr := interp.AppendFrame(c.p, c.strs, nil, got, slots)
	if name != got.Name || werr.Problem != 0 || !bytes.Equal(again, want) || int(next) != got.After(phase) {
		t.Fatalf("%s: % x is %s, % x and then %d; the reference says %s, % x and %d", where, frame, name, again, next,
			got.Name, want, got.After(phase))
	}
	if !bytes.Equal(again, frame) && !c.p.Wire.Loose(got) {
		t.Fatalf("%s: % x is %s, which is written as % x", where, frame, name, again)
	}
	return got
}

// TestPhases holds the codec of each phase against the reference codec: which messages there are, how long they are,
// what follows, and what becomes of damaged frames and of those of other phases.
func TestPhases(t *testing.T) {
	t.Parallel()
	for _, c := range phasedPairs(t) {
		random := rand.New(rand.NewPCG(1, 2))
		accepted := map[string]int{}
		for range 20000 {
			frame := drawn(c.p, c.strs, c.p.Messages[random.IntN(len(c.p.Messages))], random)
			switch random.IntN(4) {
			case 0:
				frame[random.IntN(len(frame))] ^= 1 << random.IntN(8)
			case 1:
				frame = frame[:random.IntN(len(frame)+1)]
			}
			phase := random.IntN(c.p.PhaseCount())
			if m := c.held(t, c.p.Roles[random.IntN(2)].Name, phase, frame); m != nil {
				accepted[m.Name+" "+c.p.Wire.Phases[phase]]++
			}
		}
		for _, m := range c.p.Messages {
			for k, name := range c.p.Wire.Phases {
				if n := accepted[m.Name+" "+name]; (n > 5) != m.In(k) {
					t.Errorf("%s came %d times in the phase %s", m.Name, n, name)
				}
			}
		}
	}
}

// FuzzPhases does so on any bytes; the first byte chooses the protocol, the phase and who receives.
func FuzzPhases(f *testing.F) {
	type place struct{ pair, phase, to int }
	var places []place
	pairs, random := phasedPairs(f), rand.New(rand.NewPCG(1, 2))
	for i, c := range pairs {
		for phase := range c.p.PhaseCount() {
			for to := range c.p.Roles {
				for _, m := range c.p.Messages {
					if m.In(phase) {
						f.Add(append([]byte{byte(len(places))}, drawn(c.p, c.strs, m, random)...))
					}
				}
				places = append(places, place{i, phase, to})
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 0 {
			at := places[int(b[0])%len(places)]
			c := &pairs[at.pair]
			c.held(t, c.p.Roles[at.to].Name, at.phase, b[1:])
		}
	})
}

// drawn is a frame of a message, with values at random that have an encoding.
func drawn(p *model.Protocol, strs *interp.Strings, m *model.Message, random *rand.Rand) []byte {
	for {
		slots := make([]int64, interp.FieldSlots(m.Fields))
		for i := range slots {
			slots[i] = random.Int64N(4)
		}
		for _, f := range m.Fields {
			t, s := f.Type, slots[f.Offset:]
			if t.Kind == model.KindOptional && s[0] == 1 {
				t, s = t.Elem, s[1:]
			}
			if t.Kind == model.KindBytes {
				s[0] = strs.Intern(bytes.Repeat([]byte{7}, []int{4, 16, 5}[random.IntN(3)]))
			}
		}
		if frame, err := interp.AppendFrame(p, strs, nil, m, slots); err.Problem == 0 {
			return frame
		}
	}
}

// The messages of testdata/phases as bytes: HELLO, SAY and MORE have one number.
var (
	note  = []byte{3, 2, 0, 9}
	hello = []byte{2, 1, 5}
	say   = []byte{4, 1, 'a', 'b', 'c'}
	bulk  = []byte{4, 2, 2, 0, 7}
	more  = []byte{4, 1, 1, 0, 1}
	back  = []byte{1, 2}
	last  = []byte{1, 3}
)

// TestPhasesOfADriver: a driver cuts a stream by the phase that each frame leads to, however the bytes come; reads what
// was deferred as what it was when it came; leaves alone what comes behind the last message; and its record says so.
func TestPhasesOfADriver(t *testing.T) {
	for chunk := 1; chunk < 40; chunk += 3 {
		synctest.Test(t, func(t *testing.T) { phasesOfADriver(t, chunk) })
	}
}

func phasesOfADriver(t *testing.T, chunk int) {
	var said []string
	var record bytes.Buffer
	r := phases.NewServerRunner()
	h := &phases.ServerHandlers{
		Said:  func(x phases.ServerSaidReport) { said = append(said, x.Text.String()) },
		Noted: func(x phases.ServerNotedReport) { said = append(said, "note") },
		Had:   func(x phases.ServerHadReport) { said = append(said, "more") },
		Ended: func() { said = append(said, "ended") },
	}
	var wrong []error
	d := driver.New(r, driver.Options[*phases.ServerRunner]{StopAtFinal: true, OnReport: h.OnReport,
		Trace: []trace.Sink{trace.NewWriter(&record)}, OnError: func(_ *phases.ServerRunner, err *driver.Error) {
			wrong = append(wrong, err)
		}})
	near, far := mem.Pair(mem.Config{Stream: true})
	if err := d.Attach(0, near); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	send := func(frames ...[]byte) {
		for b := slices.Concat(frames...); len(b) > 0; {
			n := min(chunk, len(b))
			if err := far.Send(0, b[:n]); err != nil {
				t.Error(err)
			}
			far.Flush()
			synctest.Wait()
			b = b[n:]
		}
	}
	send(note, hello, say, bulk)
	if _, err := d.Do(t.Context(), (*phases.ServerRunner).Open); err != nil {
		t.Fatal(err)
	}
	send(more, back, say, note, last, []byte("GET / HTTP/1.1"))
	synctest.Wait()
	if err := <-ended; err != nil || len(wrong) > 0 {
		t.Fatal(err, wrong)
	}
	far.Abort()
	if want := "note abc more abc note ended"; strings.Join(said, " ") != want {
		t.Errorf("in pieces of %d bytes: %q, not %q", chunk, said, want)
	}
	p, diags := compile.Load("testdata/phases/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	reader, err := trace.NewReader(&record)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := replay.Check(p, reader); err != nil || got.Deviation != nil || got.Frames < 9 {
		t.Errorf("the record: %+v, %v", got, err)
	}
}

// TestPhasesOfAHost: each session of a host has phases of its own.
func TestPhasesOfAHost(t *testing.T) {
	t.Parallel()
	l, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(r *phases.ServerRunner) *phases.Server { return &r.Machine }
	h, err := driver.NewHost(phases.NewServerRunner(), at,
		func(int) phases.Server {
			m := phases.NewServer()
			m.State = phases.ServerStateOpen
			return m
		}, l, driver.Options[*phases.ServerRunner]{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(t.Context()) }()
	var conns [2]net.Conn
	for i := range conns {
		if conns[i], err = net.Dial("tcp4", l.LocalAddr().String()); err != nil {
			t.Fatal(err)
		}
		conns[i].SetDeadline(time.Now().Add(time.Minute))
	}
	talk := func(i int, want []byte, frames ...[]byte) {
		t.Helper()
		if _, err := conns[i].Write(slices.Concat(frames...)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conns[i], got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("% x, %v; not % x", got, err, want)
		}
	}
	hi := []byte{3, 1, 'h', 'i'}
	talk(0, hi, hello)
	talk(1, note, note)
	talk(0, note, bulk, more, back, note)
	talk(1, hi, hello)
	talk(0, note, bulk, back, say, note)
	talk(1, note, say, note)
	for _, c := range conns {
		c.Close()
	}
	h.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestPhasesOfACapture: replay follows the phases of each side, and leaves alone what is somebody else's.
func TestPhasesOfACapture(t *testing.T) {
	t.Parallel()
	p, diags := compile.Load("../../specs/library/socks5/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	client := []byte("\x05\x02\x00\x02" + "\x01\x01u\x01p" + "\x05\x01\x00\x03\x01h\x00\x50" +
		"GET / HTTP/1.0\r\n\r\n")
	server := []byte("\x05\x02" + "\x01\x00" + "\x05\x00\x00\x01\x7f\x00\x00\x01\x10\x00" + "HTTP/1.0 200 OK\r\n\r\n")
	ends := [2][]int{{0, 4, 9, 17, len(client)}, {0, 2, 4, 14, len(server)}}
	for _, chunk := range []int{1, 2, 5, 100} {
		var chunks []replay.Chunk
		for k := range 4 {
			for side, b := range [][]byte{client, server} {
				b = b[ends[side][k]:ends[side][k+1]]
				for len(b) > 0 {
					n := min(chunk, len(b))
					chunks = append(chunks, replay.Chunk{From: side, Packet: len(chunks) + 1, Data: b[:n]})
					b = b[n:]
				}
			}
		}
		r := replay.Split(p, chunks, false)
		if r.Fault != nil || len(r.Frames) != 6 || r.Raw != [2]int{18, 19} || r.Rest != [2]int{} {
			t.Fatalf("in pieces of %d: %d frames, raw %v, rest %v, fault %+v", chunk, len(r.Frames), r.Raw, r.Rest,
				r.Fault)
		}
		for side, m := range p.Roles {
			s, err := replay.Explain(t.Context(), r, side, []*model.Machine{m}, replay.Options{})
			if err != nil || !s.Accepted {
				t.Errorf("%s is explained up to frame %d only, %v", m.Name, s.Frontier, err)
			}
		}
	}
}

// TestPhasesAllocateNothing: what is read in a phase costs no memory.
func TestPhasesAllocateNothing(t *testing.T) {
	r := phases.NewClientRunner()
	r.Machine.State = phases.ClientStateOpen
	var phased fsm.Phased = r
	if n := testing.AllocsPerRun(100, func() {
		next, _, err := phased.FrameIn(0, 0, note)
		if size, serr := phased.FrameSizeIn(next, say); err != nil || serr != nil || size != len(say) {
			panic(err)
		}
		if _, _, err = phased.FrameIn(0, 1, say); err != nil {
			panic(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, _, err := phased.FrameIn(0, 1, back); err == nil {
		t.Error("BACK was read in the phase talk")
	} else if _, ok := err.(wire.Error); !ok {
		t.Errorf("%T is no wire.Error", err)
	}
}
