package traffic

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// endless gives a beginning, and then the same bytes for ever. After some of them nobody wants to wait any more.
type endless struct {
	begin, more string
	reads       int
	enough      context.CancelFunc
}

func (e *endless) Read(b []byte) (int, error) {
	if e.reads++; e.reads > 50 {
		e.enough()
	}
	n := copy(b, e.begin)
	e.begin = e.begin[n:]
	for n < len(b) {
		n += copy(b[n:], e.more)
	}
	return n, nil
}

// TestEndless: a file without an end can be interrupted, be it a record of empty lines or a capture of empty packets.
func TestEndless(t *testing.T) {
	p := netplay(t)
	real, err := os.ReadFile(realMatch)
	if err != nil {
		t.Fatal(err)
	}
	update, diags := compile.Load("../../../specs/update/spec.yaml", compile.Options{})
	if update == nil {
		t.Fatal(diags)
	}
	head, _, _ := strings.Cut(record(t), "\n")
	for name, e := range map[string]*endless{
		"record":  {begin: head, more: "\n"}, // of another protocol than the capture
		"capture": {begin: string(real[:24]), more: string(make([]byte, 16))},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		e.enough = cancel
		if _, err := Read(ctx, map[string]*model.Protocol{"record": update, "capture": p}[name], "x", e,
			Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
