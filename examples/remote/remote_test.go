package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/runtime/wire"
)

func object(slot, n uint32) events.Object { return events.Object(slot<<16 | n) }

func laser(slot, n uint32) (m events.Message) {
	m.Kind, m.CreateLaser.Object = events.MessageCreateLaser, object(slot, n)
	return m
}

func missile(slot, n uint32) (m events.Message) {
	m.Kind, m.CreateMissile.Object = events.MessageCreateMissile, object(slot, n)
	return m
}

func extra(slot, n uint32) (m events.Message) {
	m.Kind, m.CreateExtra.Object = events.MessageCreateExtra, object(slot, n)
	return m
}

func raw(t testing.TB, m events.Message) []byte {
	t.Helper()
	b, err := events.AppendMessage(nil, &m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// heard is a list as text, with owners.
func heard(t testing.TB, list []byte, owner uint8) (said []string) {
	t.Helper()
	if err := Each(list, owner, func(owner uint8, _ []byte, m *events.Message) {
		said = append(said, fmt.Sprint(owner, " ", m.Kind))
	}); err != nil {
		t.Fatal(err)
	}
	return said
}

// TestLayouts: sizes and places of fields are those of the table in specs/events/SOURCES.md.
func TestLayouts(t *testing.T) {
	for kind, want := range map[events.MessageKind]int{events.MessageDeleted: 2, events.MessageCreateObject: 64,
		events.MessageCreateLaser: 76, events.MessageCreateMissile: 80, events.MessageCreateExtra: 60,
		events.MessageKillObject: 12, events.MessageSendText: 255, events.MessagePlayerName: 34,
		events.MessageParticleObject: 24, events.MessageWeaponState: 20, events.MessageStateSync: 4,
		events.MessageCreateSwarm: 32, events.MessageCreateEmp: 12, events.MessageOwnerSection: 4} {
		if size[kind] != want {
			t.Errorf("%s has %d bytes, not %d", kind, size[kind], want)
		}
	}
	m := missile(3, 7)
	m.CreateMissile.Place[11], m.CreateMissile.Target, m.CreateMissile.Class = wire.MakeF32(1), 0x01020304, 5
	b := raw(t, m)
	if b[0] != 4 || b[1] != 80 || !bytes.Equal(b[48:52], []byte{0, 0, 0x80, 0x3f}) ||
		!bytes.Equal(b[68:78], []byte{7, 0, 3, 0, 4, 3, 2, 1, 5, 0}) {
		t.Errorf("a missile is % x", b)
	}
	text := Text("sid", "hello")
	if b := raw(t, text); string(b) != "\x07\x0dsid hello\x00\x00" {
		t.Errorf("a text is %q", b)
	}
	if b := raw(t, Text("sid", strings.Repeat("x", 300))); len(b) != 255 {
		t.Errorf("the longest text has %d bytes", len(b))
	}
}

// TestOutbox: what happened comes in its order, once; what flies is where it is now, and gone if it is; the
// budget holds; owners and sizes are bounded.
func TestOutbox(t *testing.T) {
	var o Outbox
	for _, m := range []events.Message{laser(1, 1), Text("a", "b"), missile(1, 2), extra(1, 3)} {
		if !o.Allowed(m.Kind) || !o.Add(&m) {
			t.Fatal("there is no room")
		}
	}
	list, left := o.Flush(nil, MaxList, func(object events.Object) (events.Matrix, bool) {
		var now events.Matrix
		now[3] = wire.MakeF32(42)
		return now, object&0xFFFF == 2
	})
	if got := heard(t, list, 1); fmt.Sprint(got) != "[1 SEND_TEXT 1 CREATE_MISSILE 1 CREATE_EXTRA]" || left != 0 {
		t.Errorf("%v, %d left", got, left)
	}
	var m events.Message
	if err := events.DecodeMessage(list[7:87], &m); err != nil || m.CreateMissile.Place[3].Float() != 42 {
		t.Errorf("the missile is where it was (%v)", err)
	}
	if again, _ := o.Flush(nil, MaxList, nil); len(again) != 0 || o.Len() != 0 {
		t.Error("something is sent twice")
	}
	many := laser(1, 1)
	for o.Allowed(many.Kind) {
		o.Add(&many)
	}
	if n := o.Len(); n != MaxList/76 || o.Add(&many) || o.Refused() != 1 {
		t.Errorf("%d lasers in one packet, %d refused", n, o.Refused())
	}
	if list, left := o.Flush(nil, 200, nil); len(list) != 152 || left != MaxList/76-2 {
		t.Errorf("a budget of 200 gives %d bytes, %d left", len(list), left)
	}
}

// TestQueue: critical events overtake the others, keep their order, and are dropped when they are outdated; what is
// superseded is not sent; nothing else is lost; memory is bounded.
func TestQueue(t *testing.T) {
	var q Queue
	put := func(at time.Duration, owner uint8, m events.Message) { q.Put(at, owner, raw(t, m), &m) }
	name := events.Message{Kind: events.MessagePlayerName, PlayerName: events.PlayerNameMessage{Name: Name("sid")}}
	put(0, 1, Text("a", "hello"))
	put(0, 1, name)
	put(0, 1, extra(1, 1))
	put(0, 2, laser(2, 1))
	put(0, 1, missile(1, 2))
	put(0, 1, name)
	if got := heard(t, q.Take(nil, time.Second, 230, 3), 3); fmt.Sprint(got) !=
		"[2 CREATE_LASER 1 CREATE_MISSILE 1 CREATE_EXTRA]" {
		t.Errorf("first %v", got)
	}
	put(time.Second, 2, laser(2, 2))
	if got := heard(t, q.Take(nil, 4*time.Second, MaxList, 3), 3); fmt.Sprint(got) != "[1 SEND_TEXT 1 PLAYER_NAME]" {
		t.Errorf("then %v", got)
	}
	if q.Outdated != 1 || q.Superseded != 1 || q.Len() != 0 || q.bytes != 0 {
		t.Errorf("%+v, %d left, %d bytes", q.Lost, q.Len(), q.bytes)
	}
	for range 1000 {
		put(0, 1, extra(1, 1))
		put(0, 1, Text("a", strings.Repeat("x", 200)))
	}
	if q.bytes > maxQueued || q.waiting[Normal] == nil || len(q.waiting[Low]) != 0 {
		t.Errorf("%d bytes wait", q.bytes)
	}
	q.Forget(1)
	if q.Len() != 0 || q.bytes != 0 {
		t.Error("events of who has left wait")
	}
}

// TestModem: how much fits into the 28.8 kbit/s of the document, with what UDP and IP add.
func TestModem(t *testing.T) {
	const modem, headers = 28800 / 8, 28
	const packet = 144 + 9 + headers // a GAME_STATE without events, as examples/parsec-server sends it
	for _, c := range []struct{ others, rate int }{{1, 19}, {3, 6}, {15, 1}} {
		if c.others*c.rate*packet > modem || c.others*(c.rate+1)*packet <= modem {
			t.Errorf("%d others at %d a second need %d bytes a second of %d", c.others, c.rate,
				c.others*c.rate*packet, modem)
		}
		t.Logf("%d others: %d states a second each", c.others, c.rate)
	}
	// Peer to peer sends to each of three others, so the way up is the way down; to a server it is once.
	if up := 19 * packet; up > modem || up+packet <= modem {
		t.Errorf("%d bytes a second up", up)
	}
}

// TestReckoner: a state is left out only if nothing is new, and not for long.
func TestReckoner(t *testing.T) {
	var r Reckoner
	a, b := (&Ship{Speed: 1}).Append(nil), (&Ship{Speed: 2}).Append(nil)
	for i, c := range []struct {
		at   time.Duration
		ship []byte
		n    int
		want bool
	}{{0, a, 0, true}, {50, a, 0, false}, {100, b, 0, true}, {150, b, 1, true}, {649, b, 0, false}, {650, b, 0, true}} {
		if got := r.Due(c.at*time.Millisecond, c.ship, c.n); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
	s, ok := ParseShip(b)
	if !ok || s.Speed != 2 {
		t.Error("a ship comes back as another one")
	}
	s = Ship{Speed: 2 << 16, Matrix: [12]float32{10: 1, 3: 5}}
	if x, y, z := s.Predict(time.Second); x != 5 || y != 0 || z != 2 {
		t.Errorf("it is at %v %v %v", x, y, z)
	}
	b[0], b[1], b[2], b[3] = 0, 0, 0xc0, 0x7f // not a number
	if _, ok := ParseShip(b); ok {
		t.Error("a ship is nowhere")
	}
}

// TestRecording: a session comes back as it was, text included; one that was cut off is whole up to there; damage
// is told.
func TestRecording(t *testing.T) {
	var file bytes.Buffer
	r, _ := NewRecorder(&file)
	var want []string
	add := func(k Kind, at time.Duration, slot uint8, data []byte) {
		if err := r.Add(k, at, slot, data); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%d %v %d %x", k, at, slot, data))
	}
	add(LineRecord, 0, 0, []byte("add ip: 127.0.0.1 name: sid in 1"))
	ship := Ship{Speed: 1 << 16}
	for i := range 1200 { // a minute at 20 a second
		at := time.Duration(i) * 50 * time.Millisecond
		ship.Matrix[3] += 0.7
		ship.Yaw += 11
		add(ShipRecord, at, uint8(i%3), ship.Append(nil))
		if i%100 == 0 {
			text := Text("sid", fmt.Sprint("message ", i))
			add(EventsRecord, at, 1, append(raw(t, laser(1, uint32(i))), raw(t, text)...))
		}
	}
	add(HiddenRecord, time.Minute, 1, nil)
	whole := bytes.Clone(file.Bytes())
	t.Logf("%d bytes a minute of one ship at 20 a second, and 12 shots and texts", len(whole))
	play := func(b []byte) (got []string, err error) {
		p, err := NewPlayback(bytes.NewReader(b))
		for err == nil {
			var rec Record
			if rec, err = p.Next(); err == nil {
				got = append(got, fmt.Sprintf("%d %v %d %x", rec.Kind, rec.At, rec.Slot, rec.Data))
			}
		}
		return got, err
	}
	if got, err := play(whole); err != io.EOF || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%d records of %d (%v)", len(got), len(want), err)
	}
	if got, err := play(whole[:len(whole)-1]); !errors.Is(err, ErrTorn) || len(got) != len(want)-1 {
		t.Errorf("cut off: %d records of %d (%v)", len(got), len(want), err)
	}
	whole[len(whole)/2] ^= 1
	got, err := play(whole)
	if err == io.EOF || len(got) >= len(want) || !strings.Contains(err.Error(), "recording: byte ") {
		t.Errorf("damaged: %d records (%v)", len(got), err)
	}
	if _, err := NewPlayback(strings.NewReader("PARDEM")); err == nil {
		t.Error("anything is a recording")
	}
}

func FuzzEach(f *testing.F) {
	f.Add(append(raw(f, laser(1, 1)), raw(f, Text("a", "b"))...))
	f.Add([]byte{16, 4, 9, 0, 1, 2, 6, 12})
	f.Fuzz(func(t *testing.T, list []byte) {
		var q Queue
		var again []byte
		err := Each(list, 1, func(owner uint8, raw []byte, m *events.Message) {
			b, err := events.AppendMessage(nil, m)
			if err != nil || len(b) != len(raw) {
				t.Fatalf("% x comes back as % x (%v)", raw, b, err)
			}
			again = append(again, raw...)
			q.Put(0, owner, raw, m)
		})
		if err == nil && q.Overflow == 0 && q.Superseded == 0 {
			n := 0
			if err := Each(q.Take(nil, 0, 1<<20, 1), 1, func(uint8, []byte, *events.Message) { n++ }); err != nil {
				t.Fatal(err)
			}
		}
		if q.bytes > maxQueued {
			t.Fatal(q.bytes)
		}
	})
}

func FuzzPlayback(f *testing.F) {
	var b bytes.Buffer
	r, _ := NewRecorder(&b)
	r.Add(ShipRecord, 0, 1, make([]byte, ShipSize))
	r.Add(EventsRecord, 1, 1, []byte{13, 4, 1, 2})
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := NewPlayback(bytes.NewReader(file))
		for err == nil {
			_, err = p.Next()
		}
	})
}
