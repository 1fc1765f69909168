package conform

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/parley-go/parley/machines/mqtt"
)

var errPublish = errors.New("bad PUBLISH")

// handDecode is what one would write by hand for PUBLISH, with the same checks.
func handDecode(b []byte, m *mqtt.Message) error {
	if len(b) < 2 || b[0]>>4 != 3 {
		return errPublish
	}
	n, shift, at := 0, 0, 1
	for {
		if at >= len(b) || at > 4 {
			return errPublish
		}
		c := b[at]
		at++
		n |= int(c&127) << shift
		if c < 128 {
			if c == 0 && at > 2 {
				return errPublish
			}
			break
		}
		shift += 7
	}
	if n != len(b)-at || len(b) > 1024 {
		return errPublish
	}
	*m = mqtt.Message{Kind: mqtt.MessagePublish}
	p := &m.Publish
	qos := b[0] >> 1 & 3
	if qos == 3 {
		return errPublish
	}
	p.Dup, p.Qos, p.Retain = b[0]&8 != 0, mqtt.Qos(qos), b[0]&1 != 0
	if len(b)-at < 2 {
		return errPublish
	}
	k := int(binary.BigEndian.Uint16(b[at:]))
	at += 2
	if k > len(b)-at || k > len(p.Topic.Data) {
		return errPublish
	}
	p.Topic.Len = uint8(copy(p.Topic.Data[:], b[at:at+k]))
	at += k
	if qos > 0 {
		if len(b)-at < 2 {
			return errPublish
		}
		id := binary.BigEndian.Uint16(b[at:])
		if id == 0 {
			return errPublish
		}
		p.Packet.Present, p.Packet.Value = true, mqtt.Id(id)
		at += 2
	}
	if len(b)-at > len(p.Message.Data) {
		return errPublish
	}
	p.Message.Len = uint16(copy(p.Message.Data[:], b[at:]))
	return nil
}

// handEncode is the same for the other way.
func handEncode(dst []byte, m *mqtt.Message) ([]byte, error) {
	p := &m.Publish
	if int(p.Topic.Len) > len(p.Topic.Data) || int(p.Message.Len) > len(p.Message.Data) || p.Qos > 2 ||
		p.Packet.Present != (p.Qos > 0) {
		return dst, errPublish
	}
	first := byte(3<<4) | byte(p.Qos)<<1
	if p.Dup {
		first |= 8
	}
	if p.Retain {
		first |= 1
	}
	n := 2 + int(p.Topic.Len) + int(p.Message.Len)
	if p.Qos > 0 {
		n += 2
	}
	dst = append(dst, first)
	for n > 127 {
		dst = append(dst, byte(n)|128)
		n >>= 7
	}
	dst = append(dst, byte(n))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Topic.Len))
	dst = append(dst, p.Topic.Data[:p.Topic.Len]...)
	if p.Qos > 0 {
		dst = binary.BigEndian.AppendUint16(dst, uint16(p.Packet.Value))
	}
	return append(dst, p.Message.Data[:p.Message.Len]...), nil
}

// publish is a frame of MQTT with so many bytes of message.
func publish(tb testing.TB, size int) []byte {
	m := mqtt.Message{Kind: mqtt.MessagePublish}
	m.Publish.Qos = mqtt.QosAtLeastOnce
	m.Publish.Topic.Len = uint8(copy(m.Publish.Topic.Data[:], "sensors/kitchen/temp"))
	m.Publish.Packet = mqtt.Optional[mqtt.Id]{Present: true, Value: 77}
	m.Publish.Message.Len = uint16(size)
	b, err := mqtt.AppendMessage(nil, &m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestHandWritten: what the benchmark compares does the same.
func TestHandWritten(t *testing.T) {
	for _, size := range []int{0, 16, 120, 512} {
		frame := publish(t, size)
		var a, b mqtt.Message
		if err := handDecode(frame, &a); err != nil || mqtt.DecodeMessage(frame, &b) != nil || a != b {
			t.Fatalf("%d bytes: by hand %+v, %v; generated %+v", size, a, err, b)
		}
		if again, err := handEncode(nil, &a); err != nil || string(again) != string(frame) {
			t.Fatalf("% x, %v, not % x", again, err, frame)
		}
	}
	frame, m := publish(t, 16), mqtt.Message{}
	if n := testing.AllocsPerRun(100, func() { _ = mqtt.DecodeMessage(frame, &m) }); n != 0 {
		t.Errorf("decoding allocates %v times", n)
	}
	buffer := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { buffer, _ = mqtt.AppendMessage(buffer[:0], &m) }); n != 0 {
		t.Errorf("encoding allocates %v times", n)
	}
}

// TestDecodedAgain: a message that was decoded before is as a new one when another frame is decoded into it.
func TestDecodedAgain(t *testing.T) {
	long, short := publish(t, 120), publish(t, 0)
	copy(long[len(long)-9:], "not zeros")
	var used mqtt.Message
	for _, frame := range [][]byte{long, short, {0x62, 2, 0, 10}, short, {0xe0, 0}, long, {0xe0, 0}} {
		var fresh mqtt.Message
		if mqtt.DecodeMessage(frame, &used) != nil || mqtt.DecodeMessage(frame, &fresh) != nil || used != fresh {
			t.Errorf("% x is %+v, not %+v", frame, used, fresh)
		}
	}
}

// BenchmarkWire compares the generated codec of MQTT's PUBLISH with one written by hand.
func BenchmarkWire(b *testing.B) {
	frame := publish(b, 16)
	var m mqtt.Message
	for _, x := range []struct {
		name   string
		decode func([]byte, *mqtt.Message) error
		encode func([]byte, *mqtt.Message) ([]byte, error)
	}{{"generated", mqtt.DecodeMessage, mqtt.AppendMessage}, {"hand", handDecode, handEncode}} {
		b.Run("decode/"+x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := x.decode(frame, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("encode/"+x.name, func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]byte, 0, 1024)
			for b.Loop() {
				var err error
				if dst, err = x.encode(dst[:0], &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
