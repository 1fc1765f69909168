package explain

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// badAddress: the text is no host and port.
func badAddress(err error) bool {
	var p *net.ParseError
	return is[*net.AddrError](err) || errors.As(err, &p)
}

// isNoPort: the text behind the last colon is neither a number nor the name of a service.
func isNoPort(err error) bool {
	var d *net.DNSError
	return errors.As(err, &d) && strings.Contains(d.Err, "unknown port")
}

// badName: a name was looked up, in vain.
func badName(err error) bool { return is[*net.DNSError](err) && !isNoPort(err) }

func malformed(deed Deed, address string) (wrong, remedy string) {
	host, port, err := net.SplitHostPort(address)
	example := "127.0.0.1:6502"
	if deed == Connect || deed == Find {
		example = "192.168.1.5:6502"
	}
	n, bad := strconv.ParseUint(port, 10, 16)
	switch {
	case address == "":
		return "it is empty", "write HOST:PORT, such as " + example
	case err != nil && net.ParseIP(strings.Trim(address, "[]")) != nil && strings.Contains(address, ":"):
		return "there is no port behind the IPv6 address", "write [" + strings.Trim(address, "[]") + "]:PORT"
	case strings.Contains(address, "://"):
		return "this is no address of a computer", "write HOST:PORT without what stands before and behind " +
			"it, such as " + example
	case err != nil && strings.Count(address, ":") > 1:
		return "there is more than one colon", "write HOST:PORT, such as " + example +
			", and IPv6 in brackets, such as [::1]:6502"
	case err != nil:
		return "there is no port", "write HOST:PORT, such as " + strings.TrimSuffix(address, ":") + ":6502"
	case bad != nil:
		return fmt.Sprintf("%q is no port", port), "it is a number from 0 to 65535"
	case n == 0 && deed == Connect:
		return "nobody can be reached on port 0", "write the port that the other side listens on"
	}
	return fmt.Sprintf("%q is no address", host), "write HOST:PORT, such as " + example
}

func unnamed(_ Deed, address string) (wrong, remedy string) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return fmt.Sprintf("no address is found for the name %q", host),
		"check the spelling and whether this computer reaches its name server, or write the address in " +
			"numbers, such as 192.168.1.5"
}

func taken(deed Deed, address string) (wrong, remedy string) {
	_, port, _ := net.SplitHostPort(address)
	wrong = "another program of this computer has port " + port + " already"
	if deed == Connect || deed == Send {
		return "this computer has no free port left for it", "close some connections, or wait a minute"
	}
	return wrong, "stop that one (perhaps this program runs twice), or choose another port"
}

func foreign(deed Deed, address string) (wrong, remedy string) {
	host, _, _ := net.SplitHostPort(address)
	switch deed {
	case Connect:
		return "nobody can be reached under this address from here, or this computer has no free port left " +
			"for it", "check it; this computer has " + own()
	case Send:
		return "this computer does not have the own address that was chosen", "it has " + own()
	case Hear:
		return host + " is no broadcast address of this computer's networks", "take one of " + broadcasts()
	}
	return "this computer does not have the address " + host, "it has " + own() +
		"; without a host, as in :PORT, all of them are taken"
}

func barred(deed Deed, address string) (wrong, remedy string) {
	_, port, _ := net.SplitHostPort(address)
	if n, err := strconv.Atoi(port); err == nil && n > 0 && n < 1024 && (deed == Listen || deed == Hear) {
		return "the system keeps ports below 1024 for itself", "choose one from 1024 to 65535"
	}
	if deed == Send {
		return "the system does not let this program send there", "a firewall forbids it, or broadcasts are " +
			"not permitted; use the broadcast address of a network of this computer: " + broadcasts()
	}
	return "the system does not permit it", "ask who looks after this computer, and look at its firewall"
}

// most is how many addresses or cards a text names.
const most = 8

// networks are the addresses of this computer with their networks.
func networks() (list []*net.IPNet) {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n)
		}
	}
	return list
}

// own names the addresses of this computer.
func own() string {
	var names []string
	for _, n := range networks() {
		names = append(names, n.IP.String())
	}
	return Names(names, "no address at all")
}

// broadcasts names the broadcast addresses of this computer's networks, IPv4.
func broadcasts() string {
	var names []string
	for _, n := range networks() {
		if ip := n.IP.To4(); ip != nil && len(n.Mask) == net.IPv4len {
			last := make(net.IP, net.IPv4len)
			for i := range last {
				last[i] = ip[i] | ^n.Mask[i]
			}
			names = append(names, last.String())
		}
	}
	return Names(names, "none: it has no network of IPv4")
}

// Names lists some things, as many as a line holds.
func Names(list []string, none string) string {
	switch {
	case len(list) == 0:
		return none
	case len(list) > most:
		return strings.Join(list[:most], ", ") + " and others"
	}
	return strings.Join(list, ", ")
}

// Card explains that there is no such network card.
func Card(name string, err error) error {
	return &Error{Doing: "network card " + quoted(name), Wrong: "this computer has none of that name",
		Remedy: "it has " + Cards(), Err: err}
}

// Cards names the network cards of this computer.
func Cards() string {
	all, _ := net.Interfaces()
	var names []string
	for _, c := range all {
		name := c.Name
		if c.Flags&net.FlagUp == 0 {
			name += " (switched off)"
		}
		names = append(names, name)
	}
	return Names(names, "none")
}
