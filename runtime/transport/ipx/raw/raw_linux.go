//go:build linux && !386 && !s390x

package raw

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
	"github.com/parley-go/parley/runtime/transport/internal/explain"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// Open opens a link on a network card, such as "eth0".
func Open(card string, cfg Config) (*Link, error) {
	if cfg.Framing >= framings {
		return nil, fmt.Errorf("there is no framing %d", cfg.Framing)
	}
	ifi, err := net.InterfaceByName(card)
	if err != nil {
		return nil, explain.Card(card, err)
	}
	if ifi.Flags&net.FlagUp == 0 {
		return nil, &explain.Error{Doing: "network card " + card, Wrong: "it is switched off", Err: syscall.ENETDOWN,
			Remedy: "switch it on (ip link set " + card + " up), or take another one: there are " +
				explain.Cards()}
	}
	if err := frameLimit(&cfg, ifi.MTU); err != nil {
		return nil, fmt.Errorf("network card %s: %w", card, err)
	}
	if cfg.Node == (ipx.Node{}) {
		if len(ifi.HardwareAddr) != len(cfg.Node) {
			return nil, fmt.Errorf("network card %s has no Ethernet address: "+
				"take another one (there are %s), or set Config.Node", card, explain.Cards())
		}
		copy(cfg.Node[:], ifi.HardwareAddr)
	}
	s := &socket{framing: cfg.Framing}
	own := ipx.Address{Net: cfg.Net, Node: cfg.Node}
	if s.Endpoint, cfg.Config, err = ipx.NewEndpoint(own, cfg.Config); err != nil {
		return nil, err
	}
	if err := s.open(ifi.Index, cfg.SameHost); err != nil {
		return nil, fmt.Errorf("network card %s: %w", card, err)
	}
	dgram.Buffer(cfg.ReceiveBuffer, cfg.Logger, card, s.keep, s.raw)
	dc := dgram.Config[ipx.Address]{Limits: cfg.Limits, MaxFrame: cfg.MaxFrame,
		All: []ipx.Address{s.Everybody()}, Own: s.Own, Origin: ipx.Address.Origin,
		Overhead: minFrame + etherHeader + cfg.Framing.overhead() + ipx.HeaderSize}
	inner, err := dgram.New(s, dc, cfg.Peers)
	if err != nil {
		s.Close()
		return nil, err
	}
	everybody := s.Everybody()
	ping := func() error { return s.packet(s.PingPacket(), everybody) }
	return &Link{Link: inner, address: s.Local(), ping: ping}, nil
}

// socket is a dgram.Socket of Ethernet frames.
type socket struct {
	*ipx.Endpoint
	framing Framing
	file    *os.File
	raw     syscall.RawConn

	mu         sync.Mutex // guards what follows
	out        []byte
	call       func(fd uintptr) bool // writes out, made once
	err        error
	sendPacket func([]byte, ipx.Address) error // packet, made once
}

const (
	packetIgnoreOutgoing = 23
	allProtocols         = 3 // ETH_P_ALL: another program's frames are seen with no other
)

// open makes the socket. It hears nothing until it is bound, so that no frame
// gets past the filter.
func (s *socket) open(card int, sameHost bool) error {
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return &explain.Error{Doing: "opening a socket for IPX on it", Wrong: "that needs root or CAP_NET_RAW",
			Err: os.NewSyscallError("socket", err),
			Remedy: "run this as root, or give the program that right once (setcap cap_net_raw+ep PROGRAM), " +
				"or use the tunnel of package ipx, which needs none"}
	}
	err = attach(fd, filter)
	if err == nil && !sameHost {
		// Kernels before 4.20 do not know it; own frames are then told by their source.
		syscall.SetsockoptInt(fd, syscall.SOL_PACKET, packetIgnoreOutgoing, 1)
	}
	if err == nil {
		at := &syscall.SockaddrLinklayer{Protocol: htons(allProtocols), Ifindex: card}
		err = os.NewSyscallError("bind", syscall.Bind(fd, at))
	}
	if err != nil {
		syscall.Close(fd)
		return err
	}
	s.file = os.NewFile(uintptr(fd), "ipx")
	if s.raw, err = s.file.SyscallConn(); err != nil {
		s.file.Close()
		return err
	}
	s.call = func(fd uintptr) bool {
		for {
			_, s.err = syscall.Write(int(fd), s.out)
			if s.err != syscall.EINTR {
				return true // never wait here
			}
		}
	}
	s.sendPacket = s.packet
	return nil
}

// keep asks the system to keep so many bytes of what comes.
func (s *socket) keep(bytes int) (err error) {
	s.raw.Control(func(fd uintptr) {
		err = os.NewSyscallError("setsockopt SO_RCVBUF",
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, bytes))
	})
	return err
}

// htons puts a number into the order of the network.
func htons(n uint16) uint16 { return binary.NativeEndian.Uint16([]byte{byte(n >> 8), byte(n)}) }

// packet sends a packet to a node.
func (s *socket) packet(b []byte, to ipx.Address) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.err = s.framing.appendFrame(s.out[:0], to.Node, s.Local().Node, b), nil
	if err := s.raw.Write(s.call); err != nil {
		return err
	}
	return s.err
}

// Read implements [dgram.Socket].
func (s *socket) Read(buf []byte) ([]byte, ipx.Address, error) {
	n, err := s.file.Read(buf)
	if err != nil {
		return nil, ipx.Address{}, closed(err)
	}
	packet, framing := open(buf[:n])
	if framing != s.framing || n == len(buf) {
		return nil, ipx.Address{}, dgram.ErrSkip
	}
	return s.Open(packet, s.sendPacket)
}

// closed turns the error of a file that is closed into that of a connection.
func closed(err error) error {
	if e, ok := err.(*os.PathError); ok && e.Err == os.ErrClosed {
		return net.ErrClosed
	}
	return err
}

// Write implements [dgram.Socket].
func (s *socket) Write(frame []byte, to ipx.Address) error { return s.Send(frame, to, s.sendPacket) }

// SetReadDeadline implements [dgram.Socket].
func (s *socket) SetReadDeadline(t time.Time) error { return s.file.SetReadDeadline(t) }

// Close implements [dgram.Socket].
func (s *socket) Close() error { return s.file.Close() }

// LocalAddr implements [dgram.Socket].
func (s *socket) LocalAddr() net.Addr { return s.Local() }

// Addr implements [dgram.Socket].
func (s *socket) Addr(a ipx.Address) net.Addr { return a }

// The instructions of the filter.
const (
	loadHalf = syscall.BPF_LD | syscall.BPF_H | syscall.BPF_ABS
	loadWord = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
	equal    = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
	greater  = syscall.BPF_JMP | syscall.BPF_JGT | syscall.BPF_K
	give     = syscall.BPF_RET | syscall.BPF_K
)

// filter lets the four framings of IPX through and nothing else, so that the
// rest of the traffic wakes nobody. Jumps count from the next instruction.
var filter = []syscall.SockFilter{
	{Code: loadHalf, K: 12},
	{Code: equal, K: etherType, Jt: 9},        // Ethernet II: take
	{Code: greater, K: maxLength, Jt: 9},      // another type: drop
	{Code: loadHalf, K: 14},                   // behind the length
	{Code: equal, K: 0xFFFF, Jt: 6},           // raw 802.3: take
	{Code: equal, K: 0xE0E0, Jt: 5},           // 802.2: take
	{Code: equal, K: 0xAAAA, Jf: 5},           // neither SNAP: drop
	{Code: loadWord, K: 16},                   // 03 00 00 00
	{Code: equal, K: 0x03000000, Jf: 3},       // not of Ethernet: drop
	{Code: loadHalf, K: 20},                   // the type behind SNAP
	{Code: equal, K: etherType, Jt: 0, Jf: 1}, // SNAP with IPX: take
	{Code: give, K: 1 << 18},                  // take
	{Code: give, K: 0},                        // drop
}

func attach(fd int, program []syscall.SockFilter) error {
	p := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := syscall.Syscall6(syscall.SYS_SETSOCKOPT, uintptr(fd), syscall.SOL_SOCKET, syscall.SO_ATTACH_FILTER,
		uintptr(unsafe.Pointer(&p)), unsafe.Sizeof(p), 0)
	if errno != 0 {
		return os.NewSyscallError("setsockopt SO_ATTACH_FILTER", errno)
	}
	return nil
}
