//go:build unix

package probe

import (
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/parley-go/parley/gen/files"
)

// own gives a program a process group of its own.
func own(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end ends the process group of a program that we have started.
func end(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

// listens reports whether somebody on this computer has a UDP port, where that can be known.
func listens(address string) (yes, known bool) {
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil || !to.IP.IsLoopback() {
		return false, false
	}
	port := strings.ToUpper(strconv.FormatInt(int64(to.Port)+1<<16, 16)[1:])
	for _, file := range []string{"/proc/net/udp", "/proc/net/udp6"} {
		data, err := files.Read(file, 1<<22)
		if err != nil {
			continue
		}
		known = true
		for _, line := range strings.Split(string(data), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) > 1 && strings.HasSuffix(f[1], ":"+port) {
				return true, true
			}
		}
	}
	return false, known
}
