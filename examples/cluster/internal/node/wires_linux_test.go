package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tap makes a network card of this process's network, whose packets are read from and written to the file. All of the
// hub know each other, so that none has to be asked for its address over wires that lose packets.
func tap(number int) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	r, err := unix.NewIfreq("hub0")
	if err != nil {
		return nil, err
	}
	r.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, r); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("a network card: %w", err)
	}
	f := os.NewFile(uintptr(fd), "tap") // not before: Go would wait for a file that is no card yet
	lines := fmt.Sprintf("link set lo up\nlink set hub0 address %s up\naddr add %s/24 dev hub0\n", mac(number),
		hostIP(number))
	for i := range ports {
		if i != number {
			lines += fmt.Sprintf("neigh add %s lladdr %s dev hub0\n", hostIP(i), mac(i))
		}
	}
	ip := exec.Command("ip", "-batch", "-")
	ip.Stdin = strings.NewReader(lines)
	if out, err := ip.CombinedOutput(); err != nil {
		f.Close()
		return nil, fmt.Errorf("ip: %w: %s", err, out)
	}
	return f, nil
}

// ports is how many computers a hub joins. The last one is that of the players.
const ports = 4

func hostIP(number int) string { return fmt.Sprintf("10.77.0.%d", number+1) }
func mac(number int) string    { return fmt.Sprintf("02:00:00:00:00:%02x", number+1) }

// wire is what a hub does to packets from one computer to another.
type wire struct {
	cut      atomic.Bool
	delay    atomic.Int64 // a duration
	loss     atomic.Int64 // of a hundred packets
	dropped  atomic.Int64
	carried  atomic.Int64
	underWay chan packet
}

type packet struct {
	due  time.Time
	data []byte
}

// hub joins computers. Each wire from one to another has faults of its own.
type hub struct {
	cards [ports]*os.File
	wires [ports][ports]*wire
}

// newHub has packets carried until the test ends.
func newHub(t *testing.T, cards [ports]*os.File) *hub {
	h := &hub{cards: cards}
	for i := range ports {
		for j := range ports {
			h.wires[i][j] = &wire{underWay: make(chan packet, 4096)}
			go h.wires[i][j].carry(t.Context(), cards[j])
		}
	}
	for i, card := range cards {
		t.Cleanup(func() { card.Close() })
		go h.read(i, card)
	}
	return h
}

// carry writes packets when they are due, in the order in which they came.
func (w *wire) carry(ctx context.Context, to *os.File) {
	for {
		select {
		case p := <-w.underWay:
			if wait := time.Until(p.due); wait > 0 {
				select {
				case <-time.After(wait):
				case <-ctx.Done():
					return
				}
			}
			if w.cut.Load() {
				w.dropped.Add(1)
				continue
			}
			w.carried.Add(1)
			_, _ = to.Write(p.data) // a card that is gone, or has no room, loses it
		case <-ctx.Done():
			return
		}
	}
}

// read takes the packets of a computer, and gives each to the one that it is for.
func (h *hub) read(from int, card *os.File) {
	rng := rand.New(rand.NewPCG(uint64(from), 1)) //nolint:gosec // a test
	buf := make([]byte, 1<<16)
	for {
		n, err := card.Read(buf)
		if err != nil {
			return
		}
		to := int(buf[5]) - 1
		if n < 14 || buf[0] != 2 || to < 0 || to >= ports || to == from {
			continue // for all, which nobody needs
		}
		w := h.wires[from][to]
		p := packet{time.Now().Add(time.Duration(w.delay.Load())), append([]byte(nil), buf[:n]...)}
		lost := w.cut.Load() || rng.Int64N(100) < w.loss.Load()
		if !lost {
			select {
			case w.underWay <- p:
			default:
				lost = true
			}
		}
		if lost {
			w.dropped.Add(1)
		}
	}
}

// cut has nothing pass from some computers to others, or everything again.
func (h *hub) cut(cut bool, from, to []int) {
	for _, i := range from {
		for _, j := range to {
			h.wires[i][j].cut.Store(cut)
		}
	}
}

// worsen has all wires be so slow, and lose so many packets of a hundred.
func (h *hub) worsen(delay time.Duration, loss int64) {
	for i := range ports {
		for j := range ports {
			h.wires[i][j].delay.Store(int64(delay))
			h.wires[i][j].loss.Store(loss)
		}
	}
}

// counts returns how many packets have come through, and how many have not.
func (h *hub) counts() (carried, dropped int64) {
	for i := range ports {
		for j := range ports {
			carried += h.wires[i][j].carried.Load()
			dropped += h.wires[i][j].dropped.Load()
		}
	}
	return carried, dropped
}
