package driver

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// file is a file in memory that may be on a full disk.
type file struct {
	*trace.Writer
	bytes.Buffer
	full    bool
	closed  int
	flushed int
}

func (f *file) Flush() error { f.flushed++; return f.Writer.Flush() }

func (f *file) Write(b []byte) (int, error) {
	if f.full {
		return 0, errors.New("no space left on device")
	}
	return f.Buffer.Write(b)
}

func (f *file) Close() error { f.closed++; return nil }

func newFile(full bool) *file {
	f := &file{full: full}
	f.Writer = trace.NewWriter(f)
	return f
}

// The steps of each machine are recorded by themselves. One record that fails, as on a full disk,
// is reported once; the machines go on, and the other records too.
func TestHostRecords(t *testing.T) {
	var failures []int
	var h *pingHost
	o := Options[*pingpong.Runner]{Instance: "host ", OnError: func(_ *pingpong.Runner, e *Error) {
		if e.Kind == TraceFailed {
			failures = append(failures, h.Peer())
		}
	}}
	h, l := newHost(t, 10, o)
	files := []*file{newFile(false), newFile(true), newFile(false)}
	h.Record(func(peer int) []trace.Sink {
		if peer == 3 {
			return nil
		}
		return []trace.Sink{files[peer]}
	})
	ran := make(chan error, 1)
	go func() { ran <- h.Run(t.Context()) }()
	var guests []guest
	for range 4 {
		g := visit(t, l)
		g.say(t, pingpong.PING, 0, 0, 0, 1)
		g.hear(t, pingpong.PONG)
		guests = append(guests, g)
	}
	guests[0].say(t, pingpong.BYE)
	guests[0].say(t, 77) // malformed: it is closed
	for _, g := range guests[1:] {
		g.say(t, pingpong.PING, 0, 0, 0, 2)
		g.hear(t, pingpong.PONG)
	}
	h.Stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if !slices.Equal(failures, []int{1}) || h.core.Counters().TraceFailures != 1 {
		t.Errorf("reported for the peers %v, %d counted", failures, h.core.Counters().TraceFailures)
	}
	checkRecord(t, files[0], "host 0", "start up message message malformed lost closed")
	checkRecord(t, files[2], "host 2", "start up message message closed")
	if files[1].closed != 1 {
		t.Errorf("the file that failed was closed %d times", files[1].closed)
	}
}

// Records that fail are each reported once, however often they are written to afterwards. The host
// is not run but driven, so that time passes without waiting.
func TestHostRecordFailsOnce(t *testing.T) {
	var failures []int
	var h *pingHost
	h, l := newHost(t, 4, Options[*pingpong.Runner]{OnError: func(_ *pingpong.Runner, e *Error) {
		if e.Kind == TraceFailed {
			failures = append(failures, h.Peer())
		}
	}})
	defer l.Abort()
	files := []*file{newFile(true), newFile(false), newFile(true)}
	h.Record(func(peer int) []trace.Sink { return []trace.Sink{files[peer]} })
	h.epoch = time.Now()
	for peer := range files {
		h.arrived(0, transport.Arrival{Kind: transport.PeerUp, Peer: peer})
	}
	for now := time.Second; now < 6*time.Second; now += time.Second {
		for peer := range files {
			h.arrived(now, transport.Arrival{Peer: peer, N: copy(h.buf, []byte{0, 7, pingpong.PING, 0, 0, 0, 1})})
		}
		h.expire(now + flushInterval)
	}
	h.arrived(10*time.Second, transport.Arrival{Kind: transport.PeerLost, Peer: 0})
	h.endRecords()
	slices.Sort(failures)
	if !slices.Equal(failures, []int{0, 2}) || h.core.Counters().TraceFailures != 2 {
		t.Errorf("reported for the peers %v, %d counted", failures, h.core.Counters().TraceFailures)
	}
	for peer, f := range files {
		if f.flushed < 6 || f.closed != 1 {
			t.Errorf("the record of peer %d was flushed %d times and closed %d times", peer, f.flushed, f.closed)
		}
	}
}

// checkRecord compares the kinds of the steps of a record.
func checkRecord(t *testing.T, f *file, instance, want string) {
	t.Helper()
	r, err := trace.NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	var s, last trace.Step
	for err = r.Next(&s); err == nil; err = r.Next(&s) {
		if s.Kind == trace.Up && s.At != last.At {
			t.Errorf("%s starts at %v and comes up at %v", instance, last.At, s.At)
		}
		got = append(append(got, ' '), s.Kind.String()...)
		last = s
	}
	if err != io.EOF || r.Header().Instance != instance || string(bytes.TrimSpace(got)) != want || f.closed != 1 {
		t.Errorf("%v: instance %q, closed %d times, steps%s; want %q, %s", err, r.Header().Instance, f.closed,
			got, instance, want)
	}
}

// What one peer sends too much is dropped and counted; the others do not notice.
func TestHostFlood(t *testing.T) {
	l, err := udp.Open("udp4", "127.0.0.1:0",
		udp.Config{Limits: udp.Limits{FrameRate: 50, ByteRate: 5000, MaxPeers: 3}})
	if err != nil {
		t.Skip(err)
	}
	h, err := NewHost(pingpong.New(), where, nil, strong{l}, Options[*pingpong.Runner]{})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- h.Run(t.Context()) }()
	bad, good := visit(t, l), visit(t, l)
	for n := range byte(20) {
		for range 50 {
			bad.say(t, pingpong.NOTE, 'x')
		}
		good.say(t, pingpong.PING, 0, 0, 0, n)
		good.hear(t, pingpong.PONG)
	}
	for range 5 { // and more peers than there may be
		visit(t, l).say(t, pingpong.NOTE, 'x')
	}
	good.say(t, pingpong.PING, 0, 0, 0, 99)
	good.hear(t, pingpong.PONG)
	h.Stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if s := l.Stats(); s.Limited < 500 || s.Strangers != 4 {
		t.Errorf("%+v", s)
	}
}

// After a long sleep of the computer everything that is overdue happens once, in order, and nothing
// is lost.
func TestClockJump(t *testing.T) {
	const count = 50
	var late []int
	var h *pingHost
	o := Options[*pingpong.Runner]{OnReport: func(*pingpong.Runner, int) { late = append(late, h.Peer()) }}
	h, l := newHost(t, count, o)
	defer l.Abort()
	h.epoch = time.Now()
	for n := range count {
		h.arrived(time.Duration(n), transport.Arrival{Kind: transport.PeerUp, Peer: n})
		h.enter(h.sessions[n])
		h.core.Command(time.Duration(n), func(r *pingpong.Runner) fsm.Result { return r.Ping(1) }, false)
		h.leave()
	}
	late = nil
	h.expire(time.Duration(count) + 10*365*24*time.Hour)
	if len(late) != count || !slices.IsSorted(late) || h.due.next() != noTime {
		t.Errorf("%v are late, next at %v", late, h.due.next())
	}
	h.expire(0) // time does not go back, and nothing happens if it does
	if len(late) != count {
		t.Errorf("%d are late after the clock went back", len(late))
	}
}
