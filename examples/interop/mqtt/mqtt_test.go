package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/machines/mqtt"
)

// broker starts a mosquitto of the test and returns its address.
func broker(t *testing.T) string {
	t.Helper()
	path := daemon.Path(t, "mosquitto")
	folder, port := t.TempDir(), daemon.Port(t)
	config := filepath.Join(folder, "mosquitto.conf")
	text := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\npersistence false\nuser root\n", port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + port
	daemon.Start(t, path, "-c", config).Await(t, func() error {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err
	})
	return address
}

// cutter carries connections to a broker, and cuts each of them after so many reads of either side.
type cutter struct {
	t        *testing.T
	address  string
	released released // of what the broker says
	mu       sync.Mutex
	after    []int // of the next connections; those behind them last
}

func newCutter(t *testing.T, address string) *cutter {
	return &cutter{t: t, address: address, released: released{under: map[mqtt.Id]string{},
		done: map[mqtt.Id]string{}, again: map[string]int{}}}
}

// listen returns the address at which the cutter takes connections.
func (c *cutter) listen() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", c.address)
			if err != nil {
				near.Close()
				continue
			}
			c.mu.Lock()
			left := -1
			if len(c.after) > 0 {
				left, c.after = c.after[0], c.after[1:]
			}
			c.mu.Unlock()
			go c.carry(near, far, &left, func([]byte) {})
			go c.carry(far, near, &left, c.released.reader())
		}
	}()
	return l.Addr().String()
}

// carry hands on what comes and shows it to read, until there have been enough reads. What was read last
// is lost.
func (c *cutter) carry(from, to net.Conn, left *int, read func([]byte)) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		c.mu.Lock()
		*left--
		cut := *left == 0
		c.mu.Unlock()
		if cut {
			return
		}
		read(buf[:n])
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// released knows what a broker has released, and how often it has published a message again after that.
// Mosquitto does, against MQTT-4.3.3-1, where two connections end soon after each other: what it has
// released in the first and could not say again in the second, it publishes again in the third.
type released struct {
	mu    sync.Mutex
	under map[mqtt.Id]string // published and not released
	done  map[mqtt.Id]string // released, and the identifier was not used for another message
	again map[string]int     // times that a message was published after its release
}

// reader returns what reads the bytes of one connection, piece by piece.
func (r *released) reader() func([]byte) {
	var rest []byte
	return func(b []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		rest = append(rest, b...)
		for {
			n, err := mqtt.FrameSize(rest)
			var m mqtt.Message
			if err != nil || n == 0 || n > len(rest) || mqtt.DecodeMessage(rest[:n], &m) != nil {
				return
			}
			rest = rest[n:]
			r.note(&m)
		}
	}
}

func (r *released) note(m *mqtt.Message) {
	switch m.Kind {
	case mqtt.MessagePublish:
		if m.Publish.Qos != mqtt.QosExactlyOnce {
			return
		}
		packet, text := m.Publish.Packet.Value, m.Publish.Message.String()
		if r.done[packet] == text {
			r.again[text]++
		}
		delete(r.done, packet)
		r.under[packet] = text
	case mqtt.MessagePubrel:
		if text, published := r.under[m.Pubrel.Packet]; published {
			delete(r.under, m.Pubrel.Packet)
			r.done[m.Pubrel.Packet] = text
		}
	}
}

// check compares what a client was told with what was sent: everything in its order, and nothing twice that
// the broker has not published twice.
func (r *released) check(t *testing.T, got, sent []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	times := make(map[string]int)
	var first []string
	for _, m := range got {
		if times[m]++; times[m] == 1 {
			first = append(first, m)
		}
	}
	if !slices.Equal(first, sent) {
		t.Errorf("what has come is\n%q, and not\n%q", got, sent)
	}
	for m, n := range times {
		if n > 1+r.again[m] {
			t.Errorf("%s has come %d times, and was published again after its release %d times", m, n, r.again[m])
		}
	}
	if len(r.again) > 0 {
		t.Logf("the broker has published again what it had released: %v", r.again)
	}
}

// heard are the messages that have come to a client.
type heard struct {
	mu   sync.Mutex
	all  []string
	more chan struct{}
}

func (h *heard) arrived(_, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, message)
	select {
	case h.more <- struct{}{}:
	default:
	}
}

// await waits until a message has come.
func (h *heard) await(ctx context.Context, message string) error {
	for {
		h.mu.Lock()
		found := slices.Contains(h.all, message)
		h.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-h.more:
		case <-ctx.Done():
			return errors.New("it has not come: " + message)
		}
	}
}

// TestQos: messages of each kind between two of our clients and mosquitto, over connections that are cut.
func TestQos(t *testing.T) {
	for qos, name := range []string{"atMostOnce", "atLeastOnce", "exactlyOnce"} {
		t.Run(name, func(t *testing.T) { exchange(t, mqtt.Qos(qos)) })
	}
}

func exchange(t *testing.T, qos mqtt.Qos) {
	ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
	defer stop()
	address := broker(t)
	out, in := newCutter(t, address), newCutter(t, address)
	if qos > mqtt.QosAtMostOnce { // what is said once may be lost with its connection
		for i := range 12 {
			out.after, in.after = append(out.after, 3+i), append(in.after, 5+i)
		}
	}
	h := &heard{more: make(chan struct{}, 1)}
	listener, err := Dial(ctx, in.listen(), "listener", h.arrived)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if granted, err := listener.Subscribe("a/b", qos); err != nil || int(granted) != int(qos) {
		t.Fatal(granted, err)
	}
	speaker, err := Dial(ctx, out.listen(), "speaker", func(string, string) { t.Error("nobody has sent this") })
	if err != nil {
		t.Fatal(err)
	}
	defer speaker.Close()
	var want []string
	for i := range 30 {
		want = append(want, fmt.Sprint("message ", i))
		if err := speaker.Publish("a/b", want[i], qos); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := h.await(ctx, want[len(want)-1]); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t.Logf("%d messages; the sessions went on %d and %d times", len(h.all), speaker.Sessions(), listener.Sessions())
	if qos == mqtt.QosAtLeastOnce {
		for _, m := range want {
			if !slices.Contains(h.all, m) {
				t.Errorf("%s has not come", m)
			}
		}
	} else {
		in.released.check(t, h.all, want)
	}
	if qos > mqtt.QosAtMostOnce && (speaker.Sessions() < 3 || listener.Sessions() < 1) {
		t.Error("hardly anything was cut")
	}
}
