package ntp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
)

// TestChrony asks a chronyd that has our own clock, so the offset must be within what the way there and
// back took.
func TestChrony(t *testing.T) {
	path := daemon.Path(t, "chronyd")
	if os.Getuid() != 0 {
		t.Skip("chronyd runs as root alone")
	}
	folder, port := t.TempDir(), daemon.Port(t)
	config := filepath.Join(folder, "chrony.conf")
	text := fmt.Sprintf("local stratum 8\nport %s\nallow 127.0.0.1\nbindaddress 127.0.0.1\ncmdport 0\npidfile %s\n",
		port, filepath.Join(folder, "pid"))
	if err := os.WriteFile(config, []byte(text+"bindcmdaddress /\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := daemon.Start(t, path, "-x", "-d", "-u", "root", "-f", config)
	ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
	defer stop()
	p.Await(t, func() error { return daemon.Bound(port) })
	s, err := Ask(ctx, "127.0.0.1:"+port, 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("stratum %d, offset %v, delay %v", s.Stratum, s.Offset, s.Delay)
	const coarse = time.Millisecond // the server makes the last bits of its stamps up
	if s.Stratum != 8 || s.Delay < -coarse || s.Offset.Abs() > s.Delay.Abs()/2+coarse {
		t.Errorf("stratum %d, offset %v, delay %v", s.Stratum, s.Offset, s.Delay)
	}
}

// TestStamps: a moment is the same after it was a stamp, in this era and the next.
func TestStamps(t *testing.T) {
	for _, at := range []time.Time{time.Now(), time.Now().Add(era / 4 * time.Second), time.Unix(1<<31, 999_999_999)} {
		if d := moment(stamp(at)).Sub(at).Abs(); d > time.Nanosecond {
			t.Errorf("%v is off by %v", at, d)
		}
	}
}
