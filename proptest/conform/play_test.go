package conform

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/conform/sample/dns"
	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// TestPlayDatagrams: a question over UDP is answered by the stand-in for the server; a listener has one
// session over UDP, and the context ends it.
func TestPlayDatagrams(t *testing.T) {
	o := play.Options{Handshake: -1}
	l, err := play.Listen("udp", "127.0.0.1:0", o)
	if err != nil {
		t.Skipf("no UDP here: %v", err)
	}
	at := l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	server, err := play.Accept(ctx, l, dns.NewServerRunner(), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := play.Accept(ctx, l, dns.NewServerRunner(), nil, o); !errors.Is(err, play.ErrTaken) {
		t.Errorf("a second session over UDP: %v", err)
	}
	answered, failed := make(chan bool, 1), make(chan bool, 1)
	asker, err := play.Dial(t.Context(), "udp", at, dns.NewAskerRunner(), &dns.AskerHandlers{
		Answered: func() { answered <- true }, Failed: func() { failed <- true }}, o)
	if err != nil {
		t.Fatal(err)
	}
	label, ok := dns.NewText63("example")
	if !ok {
		t.Fatal("the name does not fit")
	}
	name := dns.Name{Len: 1, Items: [10]dns.Text63{label}}
	for done := false; !done; {
		if err := asker.Give(func(r *dns.AskerRunner) fsm.Result { return r.Ask(7, name) }); err != nil {
			t.Fatal(err)
		}
		select {
		case done = <-answered:
		case <-failed: // a loaded computer may be slower than three tries
		}
	}
	if err := asker.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	if err := server.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
}

// TestPlayHasOneLink: a protocol with several channels needs a link for each, which a session has not. It is told
// so before it connects or waits.
func TestPlayHasOneLink(t *testing.T) {
	l, err := play.Listen("tcp", "127.0.0.1:0", play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = play.Dial(ended, "tcp", l.Addr().String(), gne.NewClientRunner(), nil, play.Options{})
	if err == nil || !strings.Contains(err.Error(), "gne has several channels") {
		t.Error(err)
	}
	_, err = play.Accept(ended, l, gne.NewClientRunner(), nil, play.Options{})
	if err == nil || !strings.Contains(err.Error(), "gne has several channels") {
		t.Error(err)
	}
}
