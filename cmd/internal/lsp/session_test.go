package lsp

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/cmd/internal/lsp/complete"
	"github.com/parley-go/parley/cmd/internal/lsp/explain"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/parse"
)

// TestConfirmSession is an hour at an editor in small: a specification is opened, looked at,
// broken, mended, renamed in, formatted and closed.
func TestConfirmSession(t *testing.T) {
	dir := copySpecs(t, "confirm", "netplay", "ready", "reset", "setup", "update", "battle-end")
	file := filepath.Join(dir, "confirm/spec.yaml")
	whole := text(t, file)
	c := start(t, dir)
	if p := c.open(file, whole); len(p.Diagnostics) != 0 {
		t.Fatalf("the specification is right, but: %+v", p.Diagnostics)
	}
	t.Run("hover", func(t *testing.T) { confirmHover(t, c, file) })
	t.Run("definition", func(t *testing.T) {
		for pattern, want := range map[string]string{
			"goto: |remoteOk": "spec.yaml:38:7", "a.done| && b.done": "spec.yaml:74:7",
			"report: cancel|led": "spec.yaml:23:7",
			"b: pee|r":           "spec.yaml:17:3", "len(out, CHAN|GE)": "spec.yaml:12:3",
			"always: |a.done": "spec.yaml:84:17",
		} {
			if got := c.places("textDocument/definition", file, pattern); !slices.Equal(got, []string{want}) {
				t.Errorf("%s is declared at %v, not at %s", pattern, got, want)
			}
		}
	})
	t.Run("references", func(t *testing.T) {
		got := c.places("textDocument/references", file, "      remote|Ok:")
		if !slices.Contains(got, "coded.yaml:11:7") || !slices.Contains(got, "spec.yaml:30:26") ||
			!slices.Contains(got, "spec.yaml:38:7") {
			t.Errorf("remoteOk is at %v", got)
		}
	})
	t.Run("as you type", func(t *testing.T) { confirmTyping(t, c, file, whole) })
	t.Run("formatting", func(t *testing.T) { confirmFormatting(t, c, file, whole) })
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri(file)}})
	c.end()
}

// confirmHover points at a message, a state, a key, a role and functions.
func confirmHover(t *testing.T, c *client, file string) {
	h := c.hover(file, "send: CANCEL|ACK")
	for _, want := range []string{"**message** `CANCELACK`", "I have your CANCEL",
		"sent in peer.remoteOk, peer.committed",
		"handled in peer.cancelWaiting, peer.cancelLocalOk, peer.cancelRemoteOk, peer.cancelCommitted"} {
		if !strings.Contains(h, want) {
			t.Errorf("no %q in\n%s", want, h)
		}
	}
	h = c.hover(file, "goto: rem|oteOk")
	if !strings.Contains(h, "received CONFIRM1") ||
		!strings.Contains(h, "handles CANCEL, confirm, change") &&
			!strings.Contains(h, "entered from waiting") {
		t.Errorf("a state's hover is\n%s", h)
	}
	if h = c.hover(file, "go|to: remoteOk"); !strings.Contains(h, "The next state") {
		t.Errorf("a key's hover is\n%s", h)
	}
	h = c.hover(file, "b: pee|r")
	for _, want := range []string{"**role** `peer`", "commands confirm, cancel, change",
		"states waiting (initial), ", "done (final)"} {
		if !strings.Contains(h, want) {
			t.Errorf("no %q in a role's hover\n%s", want, h)
		}
	}
	for pattern, want := range map[string]string{"le|n(out, CHANGE)": "`len(x)`",
		"emp|ty(": "whether no message is under way"} {
		if h := c.hover(file, pattern); !strings.Contains(h, want) {
			t.Errorf("no %q in the hover of %s\n%s", want, pattern, h)
		}
	}
}

// confirmTyping misspells a state, leaves a line half written, and mends it.
func confirmTyping(t *testing.T, c *client, file, whole string) {
	p := c.change(file, 2, strings.Replace(whole, "goto: remoteOk", "goto: remotOk", 1))
	if len(p.Diagnostics) != 1 || p.Diagnostics[0].Code != "FSM051" ||
		!strings.Contains(p.Diagnostics[0].Message, "did you mean `remoteOk`?") {
		t.Errorf("a misspelt state gives %+v", p.Diagnostics)
	}
	half := strings.Replace(whole, "CONFIRM1: {goto: remoteOk}", "CONFIRM1: {goto: ", 1)
	if p = c.change(file, 3, half); len(p.Diagnostics) == 0 {
		t.Error("half a line gives nothing")
	}
	// The last understood text still answers for lines that did not change.
	if h := c.hover(file, "send: CANCEL|ACK"); !strings.Contains(h, "I have your CANCEL") {
		t.Errorf("beside half a line a message's hover is %q", h)
	}
	if got := c.labels(file, "CONFIRM1: {goto: |"); !slices.Contains(got, "remoteOk") ||
		slices.Contains(got, "CONFIRM1") {
		t.Errorf("behind goto: %v", got)
	}
	if p = c.change(file, 4, whole); len(p.Diagnostics) != 0 {
		t.Errorf("mended, but: %+v", p.Diagnostics)
	}
}

// confirmFormatting has a text with blank lines too many put in order.
func confirmFormatting(t *testing.T, c *client, file, whole string) {
	untidy := strings.Replace(whole, "commands:\n", "commands:   \n\n\n", 1)
	c.change(file, 5, untidy)
	var edits []textEdit
	if err := json.Unmarshal(c.call("textDocument/formatting", c.at(file, "|protocol")),
		&edits); err != nil || len(edits) != 1 {
		t.Fatalf("%v %+v", err, edits)
	}
	applyEdit(t, c.texts, workspaceEdit{map[string][]textEdit{uri(file): edits}})
	want, _ := parse.Format(file, []byte(untidy))
	if c.texts[file] != string(want) || len(edits[0].NewText) > len(want)*9/10 {
		t.Errorf("formatted:\n%s", c.texts[file])
	}
	c.change(file, 6, whole)
}

func TestRename(t *testing.T) {
	dir := copySpecs(t, "confirm", "netplay", "ready", "reset", "setup", "update", "battle-end")
	base, coded := filepath.Join(dir, "confirm/spec.yaml"), filepath.Join(dir, "confirm/coded.yaml")
	setup := filepath.Join(dir, "netplay/spec.yaml")
	c := start(t, dir)
	c.open(base, text(t, base))
	rename := func(pattern, name string) (workspaceEdit, *rpcError) {
		p := c.at(base, pattern)
		p["newName"] = name
		r := c.try("textDocument/rename", p)
		var e workspaceEdit
		if r.Error == nil {
			if err := json.Unmarshal(r.Result, &e); err != nil {
				t.Fatal(err)
			}
		}
		return e, r.Error
	}
	for pattern, name := range map[string]string{"goto: remote|Ok": "theyAgreed",
		"  CHAN|GE: {doc": "EDIT", "chan|ge: {doc: the local": "edit"} {
		edit, failed := rename(pattern, name)
		if failed != nil {
			t.Errorf("%s: %s", pattern, failed.Message)
			continue
		}
		texts := map[string]string{}
		for u := range edit.Changes {
			f := strings.TrimPrefix(u, "file://")
			texts[f] = text(t, f)
		}
		if name == "theyAgreed" && (edit.Changes[uri(coded)] == nil || edit.Changes[uri(base)] == nil) {
			t.Errorf("%s: the extending file is left out: %v", name, texts)
		}
		applyEdit(t, texts, edit)
		for _, f := range []string{base, coded, setup} {
			if _, l := compile.Load(f, compile.Options{FS: overlay{other: texts}}); l.HasErrors() {
				t.Errorf("%s: after the renaming %s does not compile:\n%s", name, f, l.Error())
			}
		}
		old := map[string]string{"theyAgreed": "remoteOk", "EDIT": "CHANGE:", "edit": " change:"}[name]
		if strings.Contains(texts[base], old) {
			t.Errorf("%s: %s is left over", name, old)
		}
	}
	for _, x := range []struct{ pattern, name, why string }{
		{"goto: remote|Ok", "localOk", "is here twice"},
		{"goto: remote|Ok", "peer 2", "letters, digits"},
		{"goto: remote|Ok", "none", "word of the language"},
		{"  CHAN|GE: {doc", "CANCEL", "is here twice"},
		{"chan|ge: {doc: the local", "lost", "every machine has the event `lost`"},
		{"proto|col: confirm", "x", "no name here"},
	} {
		if _, failed := rename(x.pattern, x.name); failed == nil || !strings.Contains(failed.Message, x.why) {
			t.Errorf("%s to %s: %+v, not %s", x.pattern, x.name, failed, x.why)
		}
	}
	c.end()
}

const shop = `protocol: shop
types: {Slot: 0..3, Ship: {enum: {orz: 3, empty: 255}}, Entry: {record: {slot: Slot, ship: Ship}}, Offer: {record: {entry: Entry, price: 0..9}}}
messages:
  BUY: {id: 1, doc: grüße 🚀, fields: {slot: Slot, ship: Ship}, wire: [slot: u8, pad: 1, ship: u16]}
  LIST: {id: 2, fields: {all: {list: Entry, max: 4}}, wire: [count all: u16, each all: [slot: u8, ship: u8], align: 4]}
  OFFER: {id: 3, fields: {offer: Offer}, wire: [offer.price: u8, offer.entry.ship: u8, offer.entry.slot: u16]}
wire: {header: [length: u16, type: u16], max: 64}
roles:
  peer:
    vars: {ship: "Ship?", own: {array: Slot, of: Ship}}
    commands: {buy: {fields: {slot: Slot}}}
    reports: {bought: {fields: {slot: Slot}}}
    initial: idle
    states:
      idle:
        buy: {send: "BUY{slot, ship: orz}"}
        OFFER: ignore
        LIST: {each: {e: all}, do: [{set: {"own[e.slot]": e.ship}}]}
checks:
  pair:
    instances: {a: peer, b: peer}
    claims:
      x: {sometimes: "a.idle && a.own[1] == orz"}
`

func TestWireAndShorthand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	c := start(t, filepath.Dir(file))
	c.open(file, shop)
	h := c.hover(file, "  LI|ST:")
	for _, want := range []string{"frame of 6 to 17 bytes", "| 0 | 2 | length of the frame |",
		"| 2 | 2 | type = 2 |", "| 4 | 2 | count of `all` |", "| 6 | … | `all`"} {
		if !strings.Contains(h, want) {
			t.Errorf("no %q in\n%s", want, h)
		}
	}
	// Behind characters of two UTF-16 units columns still fit.
	if h = c.hover(file, "pad: 1, sh|ip: u16"); !strings.Contains(h, "**field** `ship` of `BUY`") {
		t.Errorf("a wire item's hover is\n%s", h)
	}
	if h = c.hover(file, "Sh|ip:"); !strings.Contains(h, "| empty | 255 |") {
		t.Errorf("a type's hover is\n%s", h)
	}
	if h = c.hover(file, "  OFF|ER:"); !strings.Contains(h, "| 5 | 1 | `offer.entry.ship` |") {
		t.Errorf("fields of a record are laid out as\n%s", h)
	}
	for pattern, want := range map[string]string{"offer.en|try.ship: u8": "**field** `entry` of `Offer`",
		"offer.entry.sh|ip: u8": "**field** `ship` of `Entry`"} {
		if h = c.hover(file, pattern); !strings.Contains(h, want) {
			t.Errorf("%s: no %s in\n%s", pattern, want, h)
		}
	}
	// {slot} is a field of the message and of the command; only one is renamed.
	for pattern, want := range map[string][]string{
		"buy: {fields: {sl|ot": {`"BUY{slot: place, ship: orz}"`, "buy: {fields: {place: Slot}}"},
		"fields: {sl|ot: Slot, ship": {`"BUY{place: slot, ship: orz}"`,
			"{place: Slot, ship: Ship}, wire: [place: u8, pad: 1"},
	} {
		p := c.at(file, pattern)
		p["newName"] = "place"
		var edit workspaceEdit
		if err := json.Unmarshal(c.call("textDocument/rename", p), &edit); err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{file: shop}
		applyEdit(t, texts, edit)
		for _, w := range want {
			if !strings.Contains(texts[file], w) {
				t.Errorf("%s: no %s in\n%s", pattern, w, texts[file])
			}
		}
	}
	// While another line is broken, the same line of the last understood text answers.
	c.change(file, 2, strings.Replace(shop, "instances: {a", "instances: {{a", 1))
	if h = c.hover(file, "pad: 1, sh|ip: u16"); !strings.Contains(h, "`ship` of `BUY`") ||
		strings.Contains(h, "---\n\n") {
		t.Errorf("beside a broken line a wire item's hover is\n%s", h)
	}
	c.end()
}

// TestCapture: a new name that would be taken for something else is refused, though it compiles.
func TestCapture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	c := start(t, filepath.Dir(file))
	c.open(file, "protocol: s\nconsts: {most: 3}\nmessages: {M: {fields: {n: 0..9}}}\nroles:\n  peer:\n    "+
		"initial: idle\n"+
		"    states: {idle: {start: {send: \"M{n: most}\"}, M: {when: n < most, goto: idle}}}\n")
	p := c.at(file, "fields: {|n: 0")
	p["newName"] = "most"
	if r := c.try("textDocument/rename", p); r.Error == nil ||
		!strings.Contains(r.Error.Message, "come to mean something else") {
		t.Errorf("a field that hides a constant: %s %+v", r.Result, r.Error)
	}
	c.end()
}

func TestCompletion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	c := start(t, filepath.Dir(file))
	c.open(file, shop)
	version := 1
	for _, x := range []struct {
		old, new, at string
		want, not    []string
	}{
		{"LIST: {each", "LI: {each", "LI|: {each", []string{"LIST", "BUY", "start"},
			[]string{"buy", "idle", "bought"}},
		{"      idle:\n", "      idle:\n        \n", "      idle:\n        |",
			[]string{"lost", "entry", "ignore"}, []string{"LIST", "when"}},
		{"\"BUY{slot, ship: orz}\"", "", "buy: {send: |}", []string{"BUY", "LIST"},
			[]string{"idle", "orz"}},
		{"{slot, ship: orz}", "{s}", "BUY{s|}", []string{"slot", "ship"}, nil},
		{"ship: orz}", "ship: }", "ship: |}", []string{"orz", "empty", "slot"}, []string{"BUY"}},
		{"e.ship", "e.", "own[e.slot]\": e|.", []string{"ship", "own"}, nil},
		{"buy: {send", "buy: {go, send", "{go|, send", []string{"goto", "do"},
			[]string{"send", "claims"}},
		{"initial: idle", "initial: ", "initial: |", []string{"idle"}, []string{"BUY"}},
		{"array: Slot", "array: ", "array: |", []string{"Slot", "Ship", "bool"}, []string{"idle"}},
		{"a.idle &&", "a. &&", "a.| &&", []string{"idle", "own", "ship"}, []string{"orz", "a"}},
		{"claims:\n      x: {sometimes", "clai\n    quiet: {x", "clai|",
			[]string{"claims", "expect"}, []string{"roles", "quiet"}},
		{"instances: {a: peer", "instances: {a: ", "{a: |", []string{"peer"}, []string{"idle"}},
		{"      x: {sometimes: \"a.idle && a.own[1] == orz\"}\n", "      x:\n        ",
			"      x:\n        |", []string{"always", "sometimes"}, []string{"a"}},
		{"roles:\n", "roles:\n  outer:\n    parts: {sub: {machine: }}\n    initial: a\n    states: {a: {}}\n",
			"machine: |", []string{"peer"}, []string{"idle"}},
		{"roles:\n", "roles:\n  outer:\n    parts: {sub: {machine: peer}}\n    initial: a\n    states: {a: " +
			"{BUY: {run: sub.}}}\n", "run: sub.|", []string{"LIST", "buy"}, []string{"idle"}},
		{"offer.price: u8, ", "offer.price: u8, : u8, ", "u8, |: u8",
			[]string{"offer", "pad", "each"}, []string{"slot", "price", "entry"}},
		{"offer.price: u8", "offer.: u8", "offer.|: u8", []string{"price", "entry"},
			[]string{"offer", "slot", "pad"}},
		{"offer.entry.ship", "offer.entry.", "offer.entry.|: u8", []string{"ship", "slot"},
			[]string{"price", "pad"}},
		{"offer.entry.ship", "offer.entry.slot.", "offer.entry.slot.|: u8", nil,
			[]string{"slot", "price", "pad"}},
		{"[slot: u8, ship: u8]", "[slot: u8, : u8]", "[slot: u8, |: u8]",
			[]string{"ship", "slot", "pad"}, []string{"all", "offer", "item"}},
		{"{list: Entry, max: 4}}, wire: [count all: u16, each all: [slot: u8, ship: u8]",
			"{list: Slot, max: 4}}, wire: [count all: u16, each all: [i: u8]", "each all: [i|: u8]",
			[]string{"item", "pad"}, []string{"all"}},
		{"count all: u16", "count a: u16", "count a|: u16", []string{"all"}, []string{"pad"}},
		{"wire: {header", "wire: {order: , header", "order: |", []string{"big", "little"}, nil},
	} {
		version++
		c.change(file, version, strings.Replace(shop, x.old, x.new, 1))
		got := c.labels(file, x.at)
		for _, w := range x.want {
			if !slices.Contains(got, w) {
				t.Errorf("at %q: %s is not offered, but %v", x.at, w, got)
			}
		}
		for _, w := range x.not {
			if slices.Contains(got, w) {
				t.Errorf("at %q: %s is offered: %v", x.at, w, got)
			}
		}
	}
	c.end()
}

func TestOutline(t *testing.T) {
	dir := copySpecs(t, "confirm")
	file := filepath.Join(dir, "confirm/spec.yaml")
	c := start(t, dir)
	c.open(file, text(t, file))
	var all []documentSymbol
	if err := json.Unmarshal(c.call("textDocument/documentSymbol", c.at(file, "|protocol")), &all); err != nil {
		t.Fatal(err)
	}
	var peer documentSymbol
	for _, s := range all {
		if s.Name == "peer" {
			peer = s
		}
	}
	if len(all) < 7 || len(peer.Children) != 13 || peer.Children[4].Name != "waiting" || peer.Range.End.Line < 70 {
		t.Errorf("%d symbols, %d in the role: %+v", len(all), len(peer.Children), peer.Children)
	}
	c.end()
}

// TestHoverBuiltins: what expressions have by themselves is explained, but not the same word where
// it is a name or in a text.
func TestHoverBuiltins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	c := start(t, filepath.Dir(file))
	if p := c.open(file, ring); len(p.Diagnostics) != 0 {
		t.Fatalf("the specification is right, but: %+v", p.Diagnostics)
	}
	for pattern, want := range map[string]string{
		"when: send|er < self": "the instance that the message comes from",
		"sender < sel|f":       "the machine's own instance",
		"fir|st(queue)":        "first element", "|len(queue)": "`len(x)`", "app|end(": "x at its end",
	} {
		if h := c.hover(file, pattern); !strings.Contains(h, want) {
			t.Errorf("%s: no %q in %q", pattern, want, h)
		}
	}
	for _, pattern := range []string{"the sen|der counts", "RA|NK{of: 1}"} {
		if h := c.hover(file, pattern); strings.Contains(h, "instance that") {
			t.Errorf("%s: %q", pattern, h)
		}
	}
	if h := c.hover(file, "  RA|NK:"); !strings.Contains(h, "- `of: Place` how old it is") ||
		strings.Contains(h, "frame of") {
		t.Errorf("a message without a wire format: %q", h)
	}
	for _, name := range complete.Functions {
		if _, ok := explain.Builtins[name]; !ok {
			t.Errorf("the function %s is completed, but not explained", name)
		}
	}
}

const ring = `protocol: ring
doc: the sender counts
types: {Place: 0..3}
messages:
  RANK: {fields: {of: {type: Place, doc: how old it is}}}
roles:
  peer:
    vars: {queue: {list: Place, max: 2}}
    commands: {go: {}}
    initial: idle
    states:
      idle:
        go: {send: "RANK{of: 1}", to: all}
        RANK:
          - {when: sender < self && len(queue) == 0, set: {queue: "append(queue, of)"}}
          - {when: sender > self && len(queue) > 0 && first(queue) == of, set: {queue: tail(queue)}}
          - {}
checks:
  three: {instances: {a: peer, b: peer, c: peer}}
`
