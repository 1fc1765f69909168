package play_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
	"github.com/parley-go/parley/runtime/trace"
)

// pair connects two machines over a network of loopback.
func pair[A, B fsm.Runner](t *testing.T, network string, a A, ha play.Handlers[A], b B, hb play.Handlers[B],
	o, ob play.Options) (*play.Session[A], *play.Session[B]) {
	t.Helper()
	l, err := play.Listen(network, "127.0.0.1:0", ob)
	if err != nil {
		t.Skipf("no %s here: %v", network, err)
	}
	defer l.Close()
	at := l.Addr().String()
	dialled := make(chan error)
	var near *play.Session[A]
	go func() {
		var err error
		near, err = play.Dial(t.Context(), network, at, a, ha, o)
		dialled <- err
	}()
	far, err := play.Accept(t.Context(), l, b, hb, ob)
	if err = errors.Join(err, <-dialled); err != nil {
		t.Fatal(err)
	}
	return near, far
}

// TestFinal: both ends come to their final state, and say so.
func TestFinal(t *testing.T) {
	a, b := pair(t, "tcp", confirm.NewPeerRunner(), nil, confirm.NewPeerRunner(), nil, play.Options{},
		play.Options{})
	for _, s := range []*play.Session[*confirm.PeerRunner]{a, b} {
		if err := s.Give((*confirm.PeerRunner).Confirm); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(a.Wait(), b.Wait()); err != nil {
		t.Error(err)
	}
	if err := a.Give((*confirm.PeerRunner).Cancel); !errors.Is(err, driver.ErrStopped) {
		t.Errorf("a command after the end: %v", err)
	}
}

// TestGone: a command that is not available is refused with its reason, who leaves is heard of by the
// other end, and a record of the session is written.
func TestGone(t *testing.T) {
	var record bytes.Buffer
	passed := make(chan string, 2)
	handlers := func(who string) *ready.PeerHandlers {
		return &ready.PeerHandlers{Passed: func() { passed <- who }}
	}
	a, b := pair(t, "tcp", ready.NewPeerRunner(), handlers("a"), ready.NewPeerRunner(), handlers("b"),
		play.Options{Name: "one"}, play.Options{Name: "other", Record: &record})
	defer func() {
		r, err := trace.NewReader(&record)
		if err != nil || r.Header().Protocol != "ready" {
			t.Errorf("the record: %v", err)
		}
	}()
	if err := a.Give((*ready.PeerRunner).Ready); err != nil {
		t.Fatal(err)
	}
	var refused *driver.Error
	if err := a.Give((*ready.PeerRunner).Ready); !errors.As(err, &refused) || !strings.Contains(err.Error(), "ready") {
		t.Errorf("ready twice: %v", err)
	}
	if err := b.Give((*ready.PeerRunner).Ready); err != nil {
		t.Fatal(err)
	}
	if who := <-passed + <-passed; who != "ab" && who != "ba" {
		t.Errorf("passed: %s", who)
	}
	if err := b.Close(); err != nil {
		t.Errorf("who leaves: %v", err)
	}
	if err := a.Wait(); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "notReady") {
		t.Errorf("who is left: %v", err)
	}
}

// TestRefuses: unknown networks, a protocol that needs more than datagrams promise, and a context that
// has ended are errors. Datagrams themselves are tried in package conform, which has a protocol for them.
func TestRefuses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := play.Dial(ctx, "ipx", "a:1", ready.NewPeerRunner(), nil, play.Options{}); err == nil ||
		!strings.Contains(err.Error(), "tcp or udp") {
		t.Errorf("ipx: %v", err)
	}
	if _, err := play.Listen("unix", "x", play.Options{}); err == nil {
		t.Error("unix")
	}
	if _, err := play.Dial(ctx, "udp", "127.0.0.1:9", ready.NewPeerRunner(), nil, play.Options{}); err == nil {
		t.Error("a protocol that needs order runs over datagrams")
	}
	cancel()
	if _, err := play.Dial(ctx, "tcp", "127.0.0.1:9", ready.NewPeerRunner(), nil, play.Options{}); err == nil {
		t.Error("the context has ended, and somebody was reached")
	}
}

// resting is a peer whose initial state is final.
type resting struct{ *ready.PeerRunner }

func (r resting) Info() *fsm.Info {
	info := *r.PeerRunner.Info()
	info.Final = slices.Repeat([]bool{true}, len(info.States))
	return &info
}

// TestBeginsFinal: a machine that has ended before it begins is refused at both ends, and the error says which state
// it is and what to do. Otherwise the session would end without a word.
func TestBeginsFinal(t *testing.T) {
	l, err := play.Listen("tcp", "127.0.0.1:0", play.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	_, dialled := play.Dial(t.Context(), "tcp", l.Addr().String(), resting{ready.NewPeerRunner()}, nil, play.Options{})
	_, accepted := play.Accept(t.Context(), l, resting{ready.NewPeerRunner()}, nil, play.Options{})
	for _, err := range []error{dialled, accepted} {
		if err == nil || !strings.Contains(err.Error(), "ready.peer begins in the final state notReady") ||
			!strings.Contains(err.Error(), "quiet") {
			t.Errorf("a machine that has ended before it begins: %v", err)
		}
	}
}
