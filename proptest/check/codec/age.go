package codec

import (
	"encoding/binary"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Where messages may take several beats, the age of one is how many its receiver has felt since it
// was sent. It follows what was sent, news of links included, in a byte of its own; none is age 0.

// Aged takes what lies in a channel and its age apart.
func Aged(p *model.Protocol, msg []byte) (bare []byte, age int) {
	kind, at := binary.Uvarint(msg)
	slots := 1 // of news
	if int(kind) < len(p.Messages) {
		slots = interp.FieldSlots(p.Messages[kind].Fields)
	}
	for range slots {
		_, n := binary.Varint(msg[at:])
		at += n
	}
	if at < len(msg) {
		age = int(msg[at])
	}
	return msg[:at], age
}

// Older is what lies in a channel, one beat later.
func Older(p *model.Protocol, msg []byte) []byte {
	bare, age := Aged(p, msg)
	return append(bare[:len(bare):len(bare)], byte(age+1))
}
