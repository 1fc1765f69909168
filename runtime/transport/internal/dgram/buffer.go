package dgram

import (
	"fmt"
	"log/slog"
	"net"
	"syscall"
)

// BufferUDP is [Buffer] for a socket of UDP.
func BufferUDP(want int, log *slog.Logger, conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	Buffer(want, log, conn.LocalAddr().String(), conn.SetReadBuffer, raw)
}

// Buffer asks the system to keep so many bytes of datagrams that come while nobody receives: see
// Limits.ReceiveBuffer. The log is told if an explicit wish is not granted.
func Buffer(want int, log *slog.Logger, place string, ask func(bytes int) error, raw syscall.RawConn) {
	bytes := want
	switch {
	case want < 0:
		return
	case want == 0:
		bytes = defaultBuffer
	}
	err := ask(bytes)
	got := Granted(raw)
	if want <= 0 || log == nil || err == nil && (got == 0 || got >= want) {
		return
	}
	why := fmt.Sprintf("the system grants %d bytes", got)
	if err != nil {
		why = err.Error()
	}
	log.Warn("the receive buffer is smaller than asked for, so bursts of datagrams may be lost",
		"at", place, "asked", want, "why", why,
		"remedy", "raise the limit of the system (Linux: sysctl net.core.rmem_max) or set a smaller ReceiveBuffer")
}
