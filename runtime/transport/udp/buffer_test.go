//go:build linux

package udp_test

import (
	"bytes"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/transport/udp"
)

// The log is told when the system keeps less than was asked for, and only then.
func TestReceiveBuffer(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Skip(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for want, warned := range map[int]bool{0: false, -1: false, 64 << 10: false, most: false, 2 * most: true} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		open(t, "127.0.0.1:0", udp.Config{Limits: udp.Limits{ReceiveBuffer: want, Logger: logger}})
		if got := strings.Contains(log.String(), "receive buffer is smaller"); got != warned {
			t.Errorf("%d bytes of at most %d: %q", want, most, log.String())
		}
	}
}
