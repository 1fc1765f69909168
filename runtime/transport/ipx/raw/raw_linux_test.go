//go:build linux && !386 && !s390x

package raw

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/linktest"
)

// inside is set in the process that has a network of its own, with a cable:
// two virtual cards joined to each other. What is sent before the cards have noticed the cable is lost.
const inside = "PARLEY_RAW_NETWORK"

const cable = `ip link set lo up && ip link add va type veth peer name vb && ip link add off type veth peer name off2 && ip link set va up && ip link set vb up &&
	until test $(ip -o link | grep -c "v[ab]@.*state UP") = 2; do sleep 0.02; done &&
	exec "$0" -test.run '^TestInside' -test.v -test.timeout 4m`

func TestNetwork(t *testing.T) {
	for _, program := range []string{"unshare", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if err := exec.Command("unshare", "-Urn", "sh", "-c", "ip link add va type veth peer name vb").Run(); err != nil {
		t.Skipf("no network of one's own can be made here: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // ends a test that would hang
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-Urn", "sh", "-c", cable, os.Args[0])
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS: TestInside"); n+
		strings.Count(string(out), "\n--- SKIP: TestInside") != 5 || n < 4 {
		t.Errorf("not all tests ran:\n%s", out)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(line, "_test.go") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

func needInside(t *testing.T) {
	if os.Getenv(inside) == "" {
		t.Skip("runs as a part of TestNetwork")
	}
}

func config(f Framing) Config {
	return Config{Framing: f, Net: 7, Config: ipx.Config{Socket: 0x5000}}
}

func openLink(t *testing.T, card string, cfg Config) *Link {
	t.Helper()
	l, err := Open(card, cfg)
	if err != nil {
		t.Fatal(err)
	}
	watch := time.AfterFunc(time.Minute, func() { l.Abort() })
	t.Cleanup(func() { watch.Stop(); l.Abort() })
	return l
}

func TestInsideLink(t *testing.T) {
	needInside(t)
	for f := range framings {
		t.Run(f.String(), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
				a, b := openLink(t, "va", config(f)), openLink(t, "vb", config(f))
				a.Add(b.Address())
				b.Add(a.Address())
				return a, b
			})
		})
	}
}

func expect(t *testing.T, l transport.Link, want string) {
	t.Helper()
	buf := make([]byte, 2000)
	for {
		got, err := l.Receive(buf)
		if err != nil {
			t.Fatalf("waiting for %q: %v", want, err)
		}
		if got.Kind == transport.Data {
			if string(buf[:got.N]) != want {
				t.Fatalf("received %q, want %q", buf[:got.N], want)
			}
			return
		}
	}
}

// Links of different framings and sockets on one cable do not hear each other,
// nor themselves, nor anything that is not IPX.
func TestInsideSeparate(t *testing.T) {
	needInside(t)
	var a, b [framings]*Link
	for f := range framings {
		a[f], b[f] = openLink(t, "va", config(f)), openLink(t, "vb", config(f))
	}
	other := config(LLC)
	other.Socket = 0x6000
	c := openLink(t, "va", other)
	noise, done := tap(t, "va")
	defer done()
	syscall.Write(noise, append(make([]byte, 12), 0x08, 0x00, 0x45, 0x00))
	for f := range framings {
		if err := a[f].Send(transport.All, []byte("from "+f.String())); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Send(transport.All, []byte("to nobody")); err != nil {
		t.Fatal(err)
	}
	for f := range framings {
		expect(t, b[f], "from "+f.String())
		if err := b[f].Send(0, []byte("back")); err != nil {
			t.Fatal(err)
		}
		expect(t, a[f], "back")
		if s := a[f].Stats(); s.Own > 0 {
			t.Errorf("%v: the kernel gave own frames back: %+v", f, s)
		}
		// Each heard the one frame of c at most besides what was of another framing.
		if s := b[f].Stats(); s.Skipped > uint64(framings) {
			t.Errorf("%v: the filter let %d frames through", f, s.Skipped)
		}
	}
}

// Two programs on one card hear each other if they ask for it, and not themselves.
func TestInsideSameHost(t *testing.T) {
	needInside(t)
	x, y := config(EthernetII), config(EthernetII)
	x.SameHost, y.SameHost = true, true
	x.Node, y.Node = ipx.Node{2, 1}, ipx.Node{2, 2}
	a, b := openLink(t, "va", x), openLink(t, "va", y)
	if err := a.Send(transport.All, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	expect(t, b, "hello")
	if err := b.Send(0, []byte("back")); err != nil {
		t.Fatal(err)
	}
	expect(t, a, "back")
	if s := a.Stats(); s.Own+s.Strangers > 0 {
		t.Errorf("the kernel gave own frames back: %+v", s)
	}
}

func TestInsideErrors(t *testing.T) {
	needInside(t)
	big := config(LLC)
	big.MaxFrame = 1468
	for want, f := range map[string]func() (*Link, error){
		"it has lo, vb, va":         func() (*Link, error) { return Open("nocard", config(LLC)) },
		"none of that name":         func() (*Link, error) { return Open("nocard", config(LLC)) },
		"no such network interface": func() (*Link, error) { return Open("nocard", config(LLC)) },
		"it is switched off; switch it on (ip link set off up)": func() (*Link, error) {
			return Open("off", config(LLC))
		},
		"no framing 9":               func() (*Link, error) { return Open("va", config(9)) },
		"the most is 1467":           func() (*Link, error) { return Open("va", big) },
		"socket 0000 cannot be used": func() (*Link, error) { return Open("va", Config{}) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// tap returns a socket that sees everything on a card.
func tap(t *testing.T, card string) (fd int, done func()) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: htons(allProtocols),
		Ifindex: index(t, card)}); err != nil {
		t.Fatal(err)
	}
	syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 60})
	return fd, func() { syscall.Close(fd) }
}

func index(t *testing.T, card string) int {
	ifi, err := net.InterfaceByName(card)
	if err != nil {
		t.Fatal(err)
	}
	return ifi.Index
}

// tshark, which knows IPX by itself, reads what we send.
func TestInsideTshark(t *testing.T) {
	needInside(t)
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	fd, done := tap(t, "vb")
	defer done()
	file := binary.LittleEndian.AppendUint32(nil, 0xA1B2C3D4) // a capture of Ethernet frames
	file = append(file, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0)
	var want strings.Builder
	for f := range framings {
		l := openLink(t, "va", config(f))
		for n := range 4 {
			if err := l.Send(transport.All, bytes.Repeat([]byte{'x'}, n*50+1)); err != nil {
				t.Fatal(err)
			}
			frame := nextIPX(t, fd)
			file = append(file, make([]byte, 8)...)
			file = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(file, uint32(len(frame))),
				uint32(len(frame)))
			file = append(file, frame...)
			fmt.Fprintf(&want, "%d 0x5000 ff:ff:ff:ff:ff:ff 0x00000007 0xffff\n", 30+n*50+1)
		}
	}
	name := filepath.Join(t.TempDir(), "ipx.pcap")
	if err := os.WriteFile(name, file, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("tshark", "-r", name, "-T", "fields", "-E", "separator= ", "-e", "ipx.len", "-e",
		"ipx.dst.socket",
		"-e", "ipx.dst.node", "-e", "ipx.src.net", "-e", "ipx.checksum").Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != want.String() {
		t.Errorf("tshark reads\n%swant\n%s", out, want.String())
	}
	t.Logf("tshark has read %d frames of ours in %d framings", strings.Count(string(out), "\n"), framings)
}

// nextIPX returns the next frame that our filter would take.
func nextIPX(t *testing.T, fd int) []byte {
	buf := make([]byte, 2000)
	for {
		n, err := syscall.Read(fd, buf)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, f := open(buf[:n]); f < framings {
			return buf[:n]
		}
	}
}

// Without the right to open such a socket the error says how to get it. Root may do without it too,
// in a process of its own.
func TestNoRight(t *testing.T) {
	if os.Getenv(rightless) == "" && os.Geteuid() == 0 {
		without := []string{"--bounding-set", "-net_raw", "--inh-caps", "-net_raw"}
		if err := exec.Command("setpriv", append(without, "true")...).Run(); err != nil {
			t.Skipf("the right cannot be given up: no setpriv here, or it fails: %v", err)
		}
		cmd := exec.CommandContext(t.Context(), "setpriv", append(without, os.Args[0], "-test.run", "^TestNoRight$")...)
		cmd.Env = append(os.Environ(), rightless+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	var s socket
	err := s.open(1, false)
	if err == nil || !errors.Is(err, syscall.EPERM) ||
		!strings.Contains(err.Error(), "needs root or CAP_NET_RAW; run this as root") {
		t.Errorf("%v", err)
	}
}

// rightless is set in the process that has given up CAP_NET_RAW.
const rightless = "PARLEY_RAW_RIGHTLESS"
