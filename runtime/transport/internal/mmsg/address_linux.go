//go:build linux && (amd64 || arm64)

package mmsg

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"
)

// sockaddr is an address as the kernel writes it: sockaddr_in or sockaddr_in6.
type sockaddr [syscall.SizeofSockaddrInet6]byte

// header is struct mmsghdr.
type header struct {
	syscall.Msghdr
	n uint32 // bytes of the message
}

// put writes an address for a socket of IPv6 or of IPv4, and returns its length.
func (s *sockaddr) put(a netip.AddrPort, six bool, zones *zones) uint32 {
	binary.BigEndian.PutUint16(s[2:], a.Port())
	if !six {
		*(*uint16)(unsafe.Pointer(s)) = syscall.AF_INET
		ip := a.Addr().As4()
		copy(s[4:], ip[:])
		clear(s[8:16])
		return syscall.SizeofSockaddrInet4
	}
	*(*uint16)(unsafe.Pointer(s)) = syscall.AF_INET6
	clear(s[4:8])
	ip := a.Addr().As16()
	copy(s[8:], ip[:])
	*(*uint32)(unsafe.Pointer(&s[24])) = zones.number(a.Addr().Zone())
	return syscall.SizeofSockaddrInet6
}

// get reads an address; one of IPv4 has one form, whichever kind of socket has seen it.
func (s *sockaddr) get(zones *zones) netip.AddrPort {
	port := binary.BigEndian.Uint16(s[2:])
	switch *(*uint16)(unsafe.Pointer(s)) {
	case syscall.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(s[4:8])), port)
	case syscall.AF_INET6:
		ip := netip.AddrFrom16([16]byte(s[8:24])).Unmap()
		if n := *(*uint32)(unsafe.Pointer(&s[24])); n != 0 && ip.Is6() {
			ip = ip.WithZone(zones.name(n))
		}
		return netip.AddrPortFrom(ip, port)
	}
	return netip.AddrPort{}
}

// zones are the network interfaces that addresses have named.
type zones struct {
	numbers map[string]uint32
	names   map[uint32]string
}

// maxZones bounds what is remembered.
const maxZones = 100

// number returns the number of an interface, 0 if there is none of that name.
func (z *zones) number(name string) uint32 {
	if name == "" {
		return 0
	}
	if n, ok := z.numbers[name]; ok {
		return n
	}
	ifi, err := net.InterfaceByName(name)
	if err != nil || len(z.numbers) >= maxZones {
		n, _ := strconv.ParseUint(name, 10, 32)
		return uint32(n)
	}
	if z.numbers == nil {
		z.numbers = map[string]uint32{}
	}
	z.numbers[name] = uint32(ifi.Index)
	return uint32(ifi.Index)
}

func (z *zones) name(n uint32) string {
	if name, ok := z.names[n]; ok {
		return name
	}
	ifi, err := net.InterfaceByIndex(int(n))
	if err != nil || len(z.names) >= maxZones {
		return strconv.FormatUint(uint64(n), 10)
	}
	if z.names == nil {
		z.names = map[uint32]string{}
	}
	z.names[n] = ifi.Name
	return ifi.Name
}
