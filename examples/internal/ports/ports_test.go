package ports

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// TestKeys: a datagram is of the player whose key it bears, from whatever port of the player's address. From another
// address the key is nobody's, and the player's own datagrams go on.
func TestKeys(t *testing.T) {
	for name, x := range map[string]struct {
		address string // of the player's connection
		from    string // of the datagram
		want    string // the datagrams that are the player's
	}{
		"own":               {"127.0.0.1", "127.0.0.1:0", "ac"},
		"written as IPv6":   {"::ffff:127.0.0.1", "127.0.0.1:0", "ac"},
		"of another":        {"127.0.0.1", "127.0.0.2:0", "c"},
		"connected by IPv6": {"::1", "127.0.0.2:0", "ac"},
		"no address":        {"", "127.0.0.2:0", "ac"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Open("127.0.0.1:0", 2, udp.Limits{}, func(frame []byte) uint64 {
				key, _ := binary.Uvarint(frame[1:])
				return key
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Abort()
			key := p.Admit(1, x.address)
			send(t, p, x.from, 'a', key)
			send(t, p, x.from, 'b', key+1) // nobody's
			send(t, p, "127.0.0.1:0", 'c', key)
			var got []byte
			buf := make([]byte, 64)
			p.Interrupt(time.Now().Add(time.Minute))
			for up := false; !bytes.Contains(got, []byte("c")); {
				a, err := p.Receive(buf)
				if err != nil || a.Peer != 1 || up == (a.Kind == transport.PeerUp) {
					t.Fatalf("%+v came, %v", a, err)
				}
				if up = true; a.Kind == transport.Data {
					got = append(got, buf[0])
				}
			}
			if string(got) != x.want {
				t.Errorf("%q came from the player, not %q", got, x.want)
			}
		})
	}
}

func send(t *testing.T, p *Ports, from string, mark byte, key uint64) {
	t.Helper()
	local, err := net.ResolveUDPAddr("udp4", from)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.DialUDP("udp4", local, p.LocalAddr().(*net.UDPAddr))
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Skipf("this computer has no address %v", local.IP)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(binary.AppendUvarint([]byte{mark}, key)); err != nil {
		t.Fatal(err)
	}
}
