package parse

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFormatFiles formats everything there is: it must stay what it says, and
// formatting twice must be formatting once.
func TestFormatFiles(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../specs/*/*.yaml", "../compile/testdata/*/*.yaml"} {
		m, _ := filepath.Glob(pattern)
		files = append(files, m...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) == "shape.yaml" {
			continue // has a key twice
		}
		out, l := Format(f, text)
		if l.HasErrors() {
			t.Errorf("%s", l.Error())
			continue
		}
		again, l := Format(f, out)
		if l.HasErrors() || string(again) != string(out) {
			t.Errorf("%s: formatting twice is not formatting once\n%s", f, l.Error())
		}
	}
}

const untidy = `# head

# about the protocol
'protocol':   demo   # name


doc:   |
        some text

          deeper
        end   # no comment
source: >-   # folded
    a
    b
types: {A: "0..3",B:   [ ],   "C" : { },D: {enum: [ red,green ,
          blue, # last
          ]}}
messages:
    HELLO:
    DATA: {fields:  {n: "A",  m: "A?" , t: "a: b", s: "it's", q: 'say "x"', e: "tab\t"}}
    WAIT: {send: , to: }   # null
# before roles
roles:
      peer:
        # first comment of peer
          initial: "idle"


          states:
              idle:
                  GO:
                  -   {when: "true", goto: idle}
                  # between
                  -   when: "a &&
                         b"
                      goto:   idle     # one
                      set: {x: 1}  # two
                  # end of the list

              # end of the states
# the end
`

const tidy = `# head

# about the protocol
protocol: demo  # name

doc: |
  some text

    deeper
  end   # no comment
source: >-   # folded
  a
  b
types: {A: "0..3", B: [], C: {}, D: {enum: [red, green,
  blue  # last
  ]}}
messages:
  HELLO:
  DATA: {fields: {n: A, m: "A?", t: "a: b", s: it's, q: say "x", e: "tab\t"}}
  WAIT: {send: , to: }  # null
# before roles
roles:
  peer:
    # first comment of peer
    initial: idle

    states:
      idle:
        GO:
          - {when: "true", goto: idle}
          # between
          - when: "a &&
              b"
            goto: idle   # one
            set: {x: 1}  # two
          # end of the list

      # end of the states
# the end
`

func TestFormat(t *testing.T) {
	out, l := Format("x.yaml", []byte(untidy))
	if l.HasErrors() {
		t.Fatal(l.Error())
	}
	if string(out) != tidy {
		t.Errorf("got\n%s", out)
	}
	again, _ := Format("x.yaml", out)
	if string(again) != tidy {
		t.Errorf("a second time it is\n%s", again)
	}
	if _, l := Format("x.yaml", []byte("a: [")); !l.HasErrors() {
		t.Error("a text that is not YAML was formatted")
	}
}

// FuzzFormat: no panic, and what is formatted is stable and says the same.
func FuzzFormat(f *testing.F) {
	f.Add(untidy)
	f.Add(tidy)
	files, _ := filepath.Glob("../compile/testdata/*/*.yaml")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, l := Format("x.yaml", []byte(text))
		if l.HasErrors() {
			return
		}
		again, l := Format("x.yaml", out)
		if l.HasErrors() || string(again) != string(out) {
			t.Errorf("not stable: %s\n%q\n%q\n%q", l.Error(), text, out, again)
		}
	})
}
