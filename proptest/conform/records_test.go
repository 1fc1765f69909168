package conform

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/draw"
	"github.com/parley-go/parley/runtime/wire"
)

// recordFrame is a frame in which the fields of records, in records, stand apart from each other,
// in an order of their own: every number and text is another one, so that none can be taken for its
// neighbour.
const (
	recordText  = `MARK{by: {name: "ab", first: {at: {x: 1, y: 2}, ship: vux, loud: true}, ships: [{slot: 1, ship: none}]}, marks: [{at: {x: 3, y: 4}, ship: none, loud: false}], at: {x: 5, y: 6}}`
	recordFrame = "07 0017 05" + // header
		"01 0600 02 01 6162" + // by.first.loud, at.y, how many of by.name and of marks, by.name
		"04 00 0001 03" + // marks[0]: at.y, loud, ship, at.x
		"01 01 05 0001 01 0007 020000" // by.first.at.x, how many ships, at.x, by.ships[0], by.first.ship, by.first.at.y
)

// TestFieldsOfRecords reads and writes a frame whose items name fields of records.
func TestFieldsOfRecords(t *testing.T) {
	c := recordCodec(t, "kitchen")
	frame, err := hex.DecodeString(strings.ReplaceAll(recordFrame, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	m, slots, err := interp.ParseMessage(c.Protocol, c.Strings, recordText)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if got := c.encoded(t, m, slots); string(got) != string(frame) {
			t.Fatalf("written is\n%x, not\n%x", got, frame)
		}
		c.decoded(t, frame)
	})
	if _, got, werr := interp.DecodeFrame(c.Protocol, c.Strings, frame); werr.Problem != 0 ||
		!interp.Value(got).Equal(slots) {
		t.Errorf("read is %s, %v", interp.AppendMessage(nil, c.Strings, m, got), werr)
	}
}

// TestRecordsComeBack: what both codecs write of a message with fields of records they read as the
// same values. Only a text with a zero byte, where that ends it, has no frame.
func TestRecordsComeBack(t *testing.T) {
	for protocol, name := range map[string]string{"kitchen": "MARK", "datagram": "NESTED"} {
		c := recordCodec(t, protocol)
		m := c.Protocol.Messages[slices.IndexFunc(c.Protocol.Messages,
			func(m *model.Message) bool { return m.Name == name })]
		rapid.Check(t, func(t *rapid.T) {
			slots := draw.Fields(t, c.Strings, m.Fields, false)
			_, werr := interp.AppendFrame(c.Protocol, c.Strings, nil, m, slots)
			frame := c.encoded(t, m, slots)
			if werr.Problem != 0 {
				if werr.Problem != wire.Unterminated {
					t.Fatal(werr)
				}
				return
			}
			_, got, werr := interp.DecodeFrame(c.Protocol, c.Strings, frame)
			if werr.Problem != 0 || !interp.Value(got).Equal(slots) {
				t.Fatalf("% x is %v, %v, not %v", frame, got, werr, slots)
			}
			c.decoded(t, frame)
		})
	}
}

func recordCodec(t *testing.T, protocol string) *codec {
	t.Helper()
	for _, target := range allTargets() {
		if target.Spec == "proptest/conform/testdata/"+protocol+"/spec.yaml" {
			return newCodec(t, target)
		}
	}
	t.Fatalf("there is no target of %s", protocol)
	return nil
}
