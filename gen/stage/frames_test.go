package stage_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
)

// framed has messages of which some values have no frame.
const framed = `protocol: framed
types:
  Kind: {enum: [one, two]}
  Name: text 5
  Row: {record: {name: Name}}
wire:
  header: [type: u8]
  max: 64
messages:
  TAG:
    id: 0
    fields: {kind: Kind, a: "0..1?", b: "0..1?"}
    wire: [kind: u8, case kind: [one: [a: u8], two: [b: u8]]]
  TEXT:
    id: 2
    fields: {name: Name}
    wire: [name: nul]
  EACH:
    id: 3
    fields: {list: {list: Row, max: 2}}
    wire: [count list: u8, each list: [name: nul]]
  KEY:
    id: 4
    fields: {key: bytes 4}
    wire: [key: whole]
roles:
  peer:
    commands: {go: {}}
    initial: idle
    states:
      idle: {final: true, go: {send: "TAG{kind: one, a: 1, b: none}"}, ignore: [TEXT, EACH, KEY], TAG: {when: b == 1}}
checks:
  pair:
    instances: {a: peer, b: peer}
    hostile: b
    claims: {rests: {always: a.idle}}
`

// loadFramed compiles it for its check.
func loadFramed(t *testing.T) (*model.Protocol, *model.Check, *interp.Strings) {
	t.Helper()
	p, found := compile.Load("s.yaml", compile.Options{Check: "pair",
		FS: fstest.MapFS{"s.yaml": {Data: []byte(framed)}}})
	if p == nil {
		t.Fatal(found)
	}
	strs := &interp.Strings{}
	strs.InternDomains(p)
	return p, p.Checks[0], strs
}

// TestFrames holds what is said of messages without a frame against their reasons.
func TestFrames(t *testing.T) {
	p, _, strs := loadFramed(t)
	frames := stage.NewFrames(p, strs)
	name := func(s string) []int64 { return []int64{strs.Intern([]byte(s))} }
	for _, x := range []struct {
		message int
		slots   []int64
		why     string
	}{
		{0, []int64{0, 1, 1, 0, 0}, ""},
		{0, []int64{0, 1, 1, 1, 0},
			"field b is set, and beside what the other fields say the frame has no place for it"},
		{0, []int64{1, 0, 0, 0, 0}, "field b is none, and by what the other fields say the frame has it"},
		{1, name("north"), ""},
		{1, name("no\x00"), "field name: the text has in it what ends it, or is too long"},
		{1, []int64{0}, ""}, // it stands for every text
		{2, []int64{1, strs.Intern([]byte("north")), 0}, ""},
		{2, []int64{2, strs.Intern([]byte("north")), strs.Intern([]byte("no\x00"))},
			"field list.name: the text has in it what ends it, or is too long"},
		{3, []int64{0}, ""}, // it stands for one of four bytes
		{3, name("key"), "field key: count 3 exceeds 4"},
	} {
		for range 2 { // the second time it is remembered
			if got := frames.Refuses(p.Messages[x.message], x.slots); got != x.why {
				t.Errorf("%s%v: %q, not %q", p.Messages[x.message].Name, x.slots, got, x.why)
			}
		}
	}
	unseen := []string{"TEXT: field name: the text has in it what ends it, or is too long",
		"KEY: field key: count 0 exceeds 4"}
	if !slices.Equal(frames.Unseen, unseen) {
		t.Errorf("not looked at are %q", frames.Unseen)
	}
}

// TestForgeriesHaveFrames holds that a hostile instance sends all messages with a frame, and no other.
func TestForgeriesHaveFrames(t *testing.T) {
	p, c, strs := loadFramed(t)
	list, _, err := stage.NewHostile(p, c, strs).Forgeries(c.Instances[1], c.Instances[0])
	if err != nil {
		t.Fatal(err)
	}
	tags := 0
	for _, f := range list {
		if f.Message.Name == "KEY" {
			continue // its value stands for one of four bytes
		}
		if _, err := interp.AppendFrame(p, strs, nil, f.Message, f.Slots); err.Problem != 0 {
			t.Errorf("%s%v has no frame: %v", f.Message.Name, f.Slots, err)
		}
		if f.Message.Name == "TAG" {
			tags++
		}
	}
	if tags != 4 {
		t.Errorf("%d messages TAG, not one for each kind and value", tags)
	}
}
