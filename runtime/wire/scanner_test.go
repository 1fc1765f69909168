package wire_test

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/wire"
)

// all reads every kind of value: all{n: -2..9, u: up to 300, on: bool, kind: enum, name: text 3,
// slot: 0..5?, list: [0..9]}.
func all(text string) (string, error) {
	s := wire.NewScanner(text)
	var b strings.Builder
	put := func(words ...string) { b.WriteString(strings.Join(words, "") + " ") }
	if name := s.Name(); name != "all" {
		return "", s.UnknownCommand(name, "all")
	}
	s.Open('{')
	s.Field("n")
	put(string(rune('0' + s.Int(-2, 9))))
	s.Field("u")
	put(strings.Repeat("u", int(s.Uint(300))%7))
	s.Field("on")
	if s.Bool() {
		put("on")
	}
	s.Field("kind")
	put([]string{"red", "green"}[s.Word("red", "green")])
	s.Field("name")
	put(s.Text(3))
	s.Field("slot")
	if s.None() {
		put("none")
	} else {
		put(string(rune('0' + s.Int(0, 5))))
	}
	s.Field("list")
	n := 0
	for s.Open('['); s.Next(']'); n++ {
		if n == 2 {
			s.Failf("a list of at most 2 has no room for more")
			break
		}
		put("+", string(rune('0'+s.Int(0, 9))))
	}
	s.Close('}')
	return b.String(), s.End()
}

func TestScanner(t *testing.T) {
	good := map[string]string{
		`all{n: 3, u: 300, on: true, kind: green, name: "a b", slot: 4, list: [1, 2]}`:        "3 uuuuuu on green a b 4 +1 +2 ",
		`  all { n:0x1 ,u: 0,on: false,kind:red,name: "\"", slot: none, list: [ ] } `:         "1  red \" none ",
		`all{n: -2, u: 1, on: false, kind: red, name: "", slot: 0, list: [7]}`:                ". u red  0 +7 ",
		"all{n: 0, u: 0, on: false, kind: red, name: `ä`, slot: none, list: []}":              "0  red ä none ",
		`all{n: 0, u: 0, on: false, kind: red, name: "\x00\xff", slot: none, list: [0, 0]}  `: "0  red \x00\xff none +0 +0 ",
	}
	for text, want := range good {
		if got, err := all(text); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	const head = `all{n: 3, u: 3, on: true, kind: green, name: "a", `
	bad := map[string]string{
		"":                                     `"" is no command; there are all`,
		"al{}":                                 `"al" is no command; there are all`,
		"all":                                  "column 4 of \"all\": want '{'",
		"all{}":                                "the field n is missing",
		"all{u: 3}":                            `column 5 of "all{u: 3}": want "n:": fields are given in the order of their declaration`,
		"all{n: 3 u: 2}":                       "want a comma or '}'",
		"all{n: 12":                            `column 7 of "all{n: 12": want a number in -2..9, not "12"`,
		"all{n: many":                          `want a number in -2..9, not "many"`,
		"all{n: 3, u: -1":                      `want a number up to 300, not "-1"`,
		"all{n: 3, u: 3, on: yes":              `"yes" is none of false, true`,
		"all{n: 3, u: 3, on: true, kind: blue": `"blue" is none of red, green`,
		`all{n: 3, u: 3, on: true, kind: red, name: a`:      "want a text in quotation marks",
		`all{n: 3, u: 3, on: true, kind: red, name: 'a'`:    "want a text in quotation marks",
		`all{n: 3, u: 3, on: true, kind: red, name: "abcd"`: "want a text of at most 3 bytes, not one of 4",
		head + "slot: 6, list: []}":                         "want a number in 0..5",
		head + "slot: 5, list: [1, 2, 3]}":                  "a list of at most 2 has no room for more",
		head + "slot: 5, list: [1":                          "want a comma or ']'",
		head + "slot: 5, list: [1], more: 2}":               "want '}': nothing is left to be given",
		head + "slot: 5, list: [1]} now":                    `"now" is too much`,
	}
	for text, want := range bad {
		if got, err := all(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q in it", text, got, err, want)
		}
	}
	if _, err := all("all{" + strings.Repeat("ä", 200)); err == nil || len(err.Error()) > 700 {
		t.Errorf("a long text makes a long error: %v", err)
	}
}
