package run

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// whole is a run in which every kind of step and every field occurs.
func whole() *Run {
	r := &Run{
		Title: "all", Protocol: "p", Check: "c", Hash: "00", Problem: "✗ wrong",
		End:   []string{"a: idle", "a -> b: A, A"},
		False: []string{"x == 1"}, Reads: []Reading{{"x", "2"}}, Loop: 2,
		Instances: []Instance{
			{Name: "a", Role: "peer", Start: "idle"},
			{Name: "b", Role: "peer", Start: "idle", Hostile: true},
			{Name: "h", Role: "hub", Start: "up (x y)"},
		},
		Steps: []Step{
			{Kind: Start, Who: 0, From: Nobody, Event: "start", State: "idle", After: "idle",
				Effects: []string{"ignores it"}},
			{Kind: Command, Who: 0, From: Nobody, Event: "go{n: 1}", State: "idle → busy", After: "busy",
				Transition: "idle go", Where: "f.yaml:3",
				Effects: []string{"sends A to all", LostAtOnce("a -> h is full"), "reports r"},
				Sent:    []Sent{{ID: 1, To: 1, Text: "A"}, {ID: 0, To: 2, Text: "A"}},
				Changes: []Change{{Name: "n", Before: "0", After: "1"}}},
			{Kind: Timer, Who: 0, From: Nobody, Event: "t",
				Sent: []Sent{{ID: 2, To: 1, Text: "A"}, {ID: 3, To: 1, Text: "A", Channel: "state"},
					{ID: 4, To: 1, Text: "A"}},
				Effects: []string{"sends A to b"}},
			{Kind: Copy, Who: 1, From: 0, Message: 1, Event: "A"},
			{Kind: Swapped, Who: 1, From: 0, Event: "the first two messages change places"},
			{Kind: Message, Who: 1, From: 0, Message: 2, At: 1, Event: "A", Time: time.Second, Frame: []byte{1, 2}},
			{Kind: Lost, Who: 1, From: 0, Channel: "state", Message: 1, Event: "A"},
			{Kind: Drop, Who: 1, From: 0, Message: 3, Event: "A", Effects: []string{"nobody hears it"}},
			{Kind: LinkUp, Who: 2, From: 0, Event: "up", Note: "127.0.0.1:1"},
			{Kind: LinkLost, Who: 2, From: 0, Event: "lost"},
			{Kind: Offer, Who: 1, From: 0, Event: "A"},
			{Kind: Partition, Who: Nobody, From: Nobody, Event: "h no longer reaches b"},
			{Kind: Clock, Who: Nobody, From: Nobody, Event: "5 ticks pass"},
			{Kind: Crash, Who: 0, From: Nobody, Event: "crashes", After: "busy"},
			{Kind: Restart, Who: 0, From: Nobody, Event: "begins again", After: "idle"},
			{Kind: Beat, Who: 1, From: Nobody, Event: "feels the beat"},
			{Kind: Unseen, Who: 2, From: Nobody},
			{Kind: Message, Who: 1, From: 0, Message: 4, Event: "A", Fault: "state idle does not mention A"},
		},
	}
	return r
}

// TestJSON: a run that was written and read is the same; so is one of two instances, where the
// sender goes without saying.
func TestJSON(t *testing.T) {
	two := &Run{Instances: []Instance{{Name: "a"}, {Name: "b"}}, Steps: []Step{
		{Kind: LinkUp, Who: 0, From: 1, Event: "up", Sent: []Sent{{ID: 1, To: 1, Text: "A"}}},
		{Kind: Message, Who: 1, From: 0, Message: 1, Event: "A"}}}
	for _, r := range []*Run{whole(), two} {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(data)
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if !reflect.DeepEqual(got, r) {
			t.Errorf("%s is read as\n%+v", data, got)
		}
		if got.TextAll() != r.TextAll() {
			t.Error("the text of what was read is another one")
		}
	}
}

// TestWhole: every kind of step has its words, in the list and in the chart.
func TestWhole(t *testing.T) {
	want := ` 1. a: start                                        idle          ignores it
 2. a: go{n: 1}                                     idle → busy                     (f.yaml:3)
      sends A to all
      which is lost: a -> h is full
      reports r
      n: 0 → 1
 3. a: t expires                                                  sends A to b
 4. b ← A from a (a copy; it stays under way)
 5. the first two messages change places (a -> b)
 6. b ← A from a
 7. A (state) is lost (a -> b)
 8. b ← A from a                                                  nobody hears it
 9. h: the link to a is up
10. h: the link to a is lost
11. b ← A from a (deferred before)
12. h no longer reaches b
13. 5 ticks pass
14. a crashes
15. a begins again
16. b feels the beat
and then for ever:
17. h (not recorded)
18. b ← A from a       ✗ state idle does not mention A
`
	if got := whole().Text(); !strings.HasPrefix(got, want) {
		t.Errorf("%s", got)
	}
	if got := whole().Chart().Text(); !strings.Contains(got, "✗ A is lost: a -> h is full") ||
		!strings.Contains(got, "the first two messages change places (a -> b)") {
		t.Errorf("%s", got)
	}
}

// TestValidate: what cannot be drawn says why.
func TestValidate(t *testing.T) {
	if err := whole().Validate(); err != nil {
		t.Fatal(err)
	}
	const a, b = `{"instances": [{"name": "a"}], "steps": [`, `{"instances": [{"name": "a"}, {"name": "b"}], "steps": [`
	bad := map[string]string{
		`{"instances": []}`:                                        "0 instances",
		a + `{"instance": "c"}]}`:                                  `there is no instance "c"`,
		a + `{"kind": "command"}]}`:                                "nobody moves",
		a + `{"instance": "a", "kind": "message", "message": 9}]}`: "received or lost before it was sent",
		b + `{"from": "a -> b", "kind": "lost", "message": 4}]}`:   "received or lost before it was sent",
		a + `{"instance": "a", "sent": [{"id": 1, "to": "z"}]}]}`:  `there is no instance "z"`,
		b + `{"instance": "a", "sent": [{"id": -1, "to": "b"}]}]}`: "ids are positive",
		b +
			`{"instance": "a", "sent": [{"id": 1, "to": "b"}]}, {"instance": "a", "kind": "message", "message": 1}]}`: "was sent to b",
		b +
			`{"instance": "a", "sent": [{"id": 1, "to": "b"}, {"id": 1, "to": "b"}]}]}`: "sent twice",
		b +
			`{"from": "a -> b", "kind": "swapped", "sent": [{"id": 1, "to": "b"}]}]}`: "only machines send",
		a +
			`{"instance": "a", "frame": "0x"}]}`: "not hexadecimal",
		`[`: "not a run",
	}
	for text, want := range bad {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", text, err, want)
		}
	}
}
