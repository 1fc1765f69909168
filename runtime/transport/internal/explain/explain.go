// Package explain says in plain words what is wrong when an address cannot be
// listened on or reached, and what to do about it.
//
// It knows no link and changes no error: the system's own stays in the chain, and
// its words stand at the end in brackets. Start from [Network].
package explain

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
)

// Error is an error of the network: what was tried, what is wrong, and what to do.
type Error struct {
	Doing  string // such as "listening on 127.0.0.1:6502 (TCP)"
	Wrong  string // in plain words, without a full stop
	Remedy string // what to do
	Err    error  // as the system says it
}

func (e *Error) Error() string {
	s := e.Doing + ": " + e.Wrong
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	if system := terse(e.Err); system != e.Wrong {
		s += " (" + system + ")"
	}
	return s
}

// Unwrap returns the error of the system.
func (e *Error) Unwrap() error { return e.Err }

// Deed is the kind of attempt that failed.
type Deed string

const (
	Listen  Deed = "listening on"
	Hear    Deed = "hearing broadcasts on"
	Connect Deed = "connecting to"
	Send    Deed = "sending to"
	Find    Deed = "finding"
)

// Network explains an error of opening or reaching an address ("host:port") by a protocol, such as
// "TCP". It returns nil for nil, and an error as it is that has been explained already.
func Network(deed Deed, protocol, address string, err error) error {
	var already *Error
	if err == nil || errors.As(err, &already) {
		return err
	}
	e := &Error{Doing: string(deed) + " " + quoted(address) + " (" + protocol + ")", Err: err}
	for _, c := range causes {
		if c.is(err) {
			e.Wrong, e.Remedy = c.words(deed, address)
			return e
		}
	}
	e.Wrong = terse(err) // no words for it here
	return e
}

// quoted shows an address that could be overlooked.
func quoted(a string) string {
	if a == "" || strings.ContainsAny(a, " \t\r\n\"") {
		return `"` + strings.ReplaceAll(a, "\n", `\n`) + `"`
	}
	return a
}

// terse leaves out of an error of package net what has been said already: what was tried and the
// addresses.
func terse(err error) string {
	if err == nil {
		return ""
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			if s := terse(e); len(all) == 0 || all[len(all)-1] != s {
				all = append(all, s)
			}
		}
		return strings.Join(all, ", ")
	}
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &op) && op.Err != nil:
		return terse(op.Err)
	case errors.As(err, &dns):
		return dns.Err
	}
	return strings.ReplaceAll(err.Error(), "\n", ", ")
}

// cause is a reason and its words.
type cause struct {
	is    func(error) bool
	words func(deed Deed, address string) (wrong, remedy string)
}

// causes are looked through in this order.
var causes = []cause{
	{is[net.UnknownNetworkError], func(Deed, string) (string, string) {
		return "there is no such kind of network", "it is tcp or udp, or one of these with 4 or 6 behind it"
	}},
	{badAddress, malformed},
	{badName, unnamed},
	{isNoPort, malformed},
	{oneOf(inUse), taken},
	{oneOf(notAvailable), foreign},
	{oneOf(refused), func(Deed, string) (string, string) {
		return "that computer answers, but no program listens on the port",
			"start the other side first, and check the port; a firewall may also refuse"
	}},
	{oneOf(netUnreachable), func(Deed, string) (string, string) {
		return "this computer has no network that leads there",
			"connect it to the network, and check the address; this computer has " + own()
	}},
	{oneOf(hostUnreachable), func(Deed, string) (string, string) {
		return "no computer answers under this address", "check the address, and whether that computer is " +
			"switched on and in the same network"
	}},
	{oneOf(reset), func(Deed, string) (string, string) {
		return "the other side has closed the connection at once",
			"it may be full or limit how often one address connects; try again later"
	}},
	{oneOf(invalid), func(deed Deed, _ string) (string, string) {
		return "the system does not send there from this computer's address that was chosen",
			"choose an own address in the same network; this computer has " + own()
	}},
	{oneOf(forbidden), barred},
	{oneOf(noFamily), func(Deed, string) (string, string) {
		return "this computer does not speak that version of IP",
			"take an address of the other one: IPv4, such as 127.0.0.1, or IPv6, such as [::1]"
	}},
	{oneOf(noDescriptors), func(Deed, string) (string, string) {
		return "this program or computer has too many files and connections open",
			"close some, or raise the limit (ulimit -n)"
	}},
	{timedOut, func(Deed, string) (string, string) {
		return "nothing answers", "check the address, whether that computer is switched on, and whether a " +
			"firewall between drops what is sent"
	}},
	{isContext, func(Deed, string) (string, string) { return "given up before there was an answer", "" }},
}

func isContext(err error) bool { return errors.Is(err, context.Canceled) }

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &t) && t.Timeout()
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// oneOf reports whether one of some errors of the system is in the chain.
func oneOf(list []error) func(error) bool {
	return func(err error) bool {
		for _, e := range list {
			if errors.Is(err, e) {
				return true
			}
		}
		return false
	}
}
