package doctest

import "testing"

func TestBlocks(t *testing.T) {
	page := "Text\n```console\n$ a \\\n  b\nout\n$ c\n```\n\n````yaml x/y.yaml\nk: v\n```\n````\n"
	blocks, err := Blocks(page)
	if err != nil || len(blocks) != 2 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	if b := blocks[1]; b.Lang != "yaml" || b.File != "x/y.yaml" || b.Text != "k: v\n```\n" || b.Line != 9 {
		t.Errorf("second block: %+v", b)
	}
	cmds, err := blocks[0].Commands()
	if err != nil || len(cmds) != 2 {
		t.Fatalf("%+v, %v", cmds, err)
	}
	if c := cmds[0]; c.Text != "a b" || c.Want != "out\n" || c.Line != 3 {
		t.Errorf("first command: %+v", c)
	}
	if _, err := Blocks("```\nno end\n"); err == nil {
		t.Error("a block without end was taken")
	}
	if _, err := (Block{Text: "out\n$ a\n"}).Commands(); err == nil {
		t.Error("output without a command was taken")
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		want, got string
		match     bool
	}{
		{"", "", true},
		{"", "something\n", false},
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a  \nb\n\n", true},
		{"a\nb\n", "a\n", false},
		{"a\n", "a\nb\n", false},
		{"took … s\n", "took 0.3 s\n", true},
		{"took … s\n", "took 0.3\ns\n", false},
		{"a\n…\nz\n", "a\nb\nc\nz\n", true},
		{"a\n…\nz\n", "a\nz\n", true},
		{"a\n…\n", "a\n", true},
		{"…\n", "", true},
		{"a.c\n", "abc\n", false},
	}
	for _, test := range tests {
		if got := (Command{Want: test.want}).Matches(test.got); got != test.match {
			t.Errorf("%q against %q: %v", test.want, test.got, got)
		}
	}
}
