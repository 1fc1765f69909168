//go:build !windows

package explain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// of is an error as package net makes it.
func of(call string, no syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError(call, no)}
}

// Each cause has its words, tells what was tried and what to do in one line, and leaves the error
// in the chain.
func TestCauses(t *testing.T) {
	name := &net.OpError{Op: "listen", Err: &net.DNSError{Err: "no such host", Name: "nosuch", IsNotFound: true}}
	tests := []struct {
		deed    Deed
		address string
		err     error
		want    []string
	}{
		{Connect, "10.0.0.1:5", of("connect", syscall.ECONNREFUSED),
			[]string{"connecting to 10.0.0.1:5 (TCP): ", "no program listens", "start the other side"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.EHOSTUNREACH), []string{"no computer answers", "switched on"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.ENETUNREACH),
			[]string{"no network that leads there", "127.0.0.1"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.ETIMEDOUT), []string{"nothing answers", "firewall"}},
		{Connect, "10.0.0.1:5", context.DeadlineExceeded, []string{"nothing answers", "firewall"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.ECONNRESET), []string{"closed the connection at once", "full"}},
		{Connect, "10.0.0.1:5", context.Canceled, []string{"given up"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.EADDRINUSE), []string{"no free port left"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.EADDRNOTAVAIL), []string{"nobody can be reached"}},
		{Connect, "10.0.0.1:0", &net.AddrError{Err: "no port"}, []string{"port 0", "listens on"}},
		{Connect, "nosuch:5", name, []string{`no address is found for the name "nosuch"`, "spelling", "no such host"}},
		{Connect, "10.0.0.1:5", of("connect", syscall.EMFILE), []string{"too many files", "ulimit"}},
		{Connect, "[::1]:5", of("socket", syscall.EAFNOSUPPORT), []string{"version of IP"}},
		{Listen, "127.0.0.1:77", of("bind", syscall.EADDRINUSE),
			[]string{"listening on 127.0.0.1:77 (TCP): ", "another program", "port 77", "choose another port"}},
		{Listen, "10.0.0.1:77", of("bind", syscall.EADDRNOTAVAIL),
			[]string{"does not have the address 10.0.0.1", "it has 127.0.0.1"}},
		{Listen, ":80", of("bind", syscall.EACCES), []string{"below 1024", "65535"}},
		{Listen, ":8080", of("bind", syscall.EACCES), []string{"does not permit", "firewall"}},
		{Hear, "10.0.0.255:77", of("bind", syscall.EADDRNOTAVAIL),
			[]string{"hearing broadcasts on", "no broadcast address", "127.255.255.255"}},
		{Send, "10.0.0.255:77", of("sendto", syscall.EACCES),
			[]string{"does not let", "broadcasts are not permitted", "127.255.255.255"}},
		{Send, "10.0.0.255:77", of("sendto", syscall.EPERM), []string{"does not let", "firewall"}},
		{Send, "10.0.0.255:77", of("connect", syscall.EINVAL), []string{"own address", "127.0.0.1"}},
		{Listen, "", &net.AddrError{Err: "missing port in address"},
			[]string{`listening on "" (TCP): it is empty`, "HOST:PORT"}},
		{Listen, "here", &net.AddrError{Err: "missing port in address"},
			[]string{"there is no port", "such as here:6502"}},
		{Connect, "::1", &net.AddrError{Err: "too many colons in address"}, []string{"IPv6", "[::1]:PORT"}},
		{Connect, "a:b:c", &net.AddrError{Err: "too many colons in address"},
			[]string{"more than one colon", "[::1]:6502"}},
		{Connect, "http://a/", &net.AddrError{Err: "missing port"}, []string{"no address of a computer", "HOST:PORT"}},
		{Listen, "a:99999", &net.AddrError{Err: "invalid port"}, []string{`"99999" is no port`, "0 to 65535"}},
		{Listen, "a:x\ny", &net.DNSError{Err: "unknown port"}, []string{`listening on "a:x\ny"`, `is no port`}},
		{Listen, "a:1", net.UnknownNetworkError("ipx"), []string{"no such kind of network", "tcp or udp"}},
		{Listen, "a:1", errors.New("the moon is full"), []string{"listening on a:1 (TCP): ", "the moon is full"}},
	}
	for _, tt := range tests {
		err := Network(tt.deed, "TCP", tt.address, fmt.Errorf("around: %w", tt.err))
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s, %v: no %q in\n%v", tt.deed, tt.address, tt.err, want, err)
			}
		}
		if !errors.Is(err, tt.err) || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "moon") > 1 {
			t.Errorf("%v", err)
		}
		if again := Network(Listen, "UDP", "elsewhere:1",
			fmt.Errorf("more: %w", err)); !strings.HasPrefix(again.Error(), "more: "+string(tt.deed)) {
			t.Errorf("explained twice: %v", again)
		}
	}
	if err := Network(Listen, "TCP", "a:1", nil); err != nil {
		t.Errorf("nothing is %v", err)
	}
}

// Several errors are one line, without repetitions; what can be mended comes before the mere end of
// time.
func TestJoined(t *testing.T) {
	r := of("connect", syscall.ECONNREFUSED)
	err := Network(Connect, "TCP", "localhost:5", errors.Join(r, r, context.DeadlineExceeded))
	if s := err.Error(); !strings.Contains(s, "no program listens") ||
		!strings.HasSuffix(s, "(connect: connection refused, context deadline exceeded)") {
		t.Error(s)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the chain is broken")
	}
}

func TestNames(t *testing.T) {
	many := strings.Split("a b c d e f g h i", " ")
	for want, list := range map[string][]string{"none": nil, "a, b": many[:2],
		"a, b, c, d, e, f, g, h and others": many} {
		if got := Names(list, "none"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if c := Cards(); c == "" || c == "none" {
		t.Skip("no network cards here")
	}
}
