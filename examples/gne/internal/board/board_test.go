package board

import "testing"

// FuzzChange: what parses is written and read again as itself, and can be applied to any board or is refused; a copy
// makes the same board.
func FuzzChange(f *testing.F) {
	for _, s := range []string{"=door open", "=a ", "+count 3", "+count -2147483648", "-door", ">3 Jason 2",
		"<3", "", "?x", "+count x", "=\x1b[2J y", "- a", ">17 x", "=" + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y"} {
		f.Add(s, "+count 1")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		b := New()
		for _, s := range []string{first, second, second} {
			c, err := Parse(s)
			if err != nil {
				continue
			}
			again, err := Parse(c.String())
			if err != nil || again != c {
				t.Fatalf("%q is %v, and then %v, %v", s, c, again, err)
			}
			if len(c.String()) > 200 {
				t.Fatalf("%q does not fit into a packet", c)
			}
			before := b.String()
			if b.Apply(c) != nil && b.String() != before {
				t.Fatalf("%v is refused, and made %s of %s", c, b, before)
			}
		}
		other := New()
		for _, c := range b.Copy() {
			again, err := Parse(c.String())
			if err != nil || other.Apply(again) != nil {
				t.Fatalf("the copy has %q: %v", c, err)
			}
		}
		if other.String() != b.String() {
			t.Fatalf("the copy makes %s of %s", other, b)
		}
	})
}

// TestFull: a board does not grow without bound.
func TestFull(t *testing.T) {
	b := New()
	for i := range MaxObjects + 1 {
		err := b.Apply(Change{Kind: Set, Name: string(rune('a' + i)), Value: "x"})
		if (err != nil) != (i == MaxObjects) {
			t.Fatalf("object %d: %v", i, err)
		}
	}
	if err := b.Apply(Change{Kind: Set, Name: "a", Value: "y"}); err != nil {
		t.Fatal("what is there can still be changed:", err)
	}
}
