package certify

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/model"
)

// pattern returns the regular expression over the letters a, b, c that a word stands for.
func pattern(word []Block) string {
	var out strings.Builder
	out.WriteString("^")
	for _, b := range word {
		class := ""
		for _, m := range b[1:] {
			class += string(rune('a' + m))
		}
		if b.Open() {
			fmt.Fprintf(&out, "[%s]{%d,}", class, b.Least())
		} else {
			out.WriteString(class)
		}
	}
	return out.String() + "$"
}

var word = rapid.Custom(func(t *rapid.T) []Block {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Block {
		if rapid.Bool().Draw(t, "closed") {
			return Block{0, rapid.IntRange(0, 2).Draw(t, "letter")}
		}
		return append(Block{rapid.IntRange(1, 2).Draw(t, "least")},
			rapid.SliceOfNDistinct(rapid.IntRange(0, 2), 1, 2, rapid.ID[int]).Draw(t, "letters")...)
	}), 0, 3).Draw(t, "word")
})

// TestWithin compares inclusion with what regular expressions say of all short words.
func TestWithin(t *testing.T) {
	var all []string
	for list := []string{""}; len(list[0]) < 6; {
		all = append(all, list...)
		var longer []string
		for _, w := range list {
			longer = append(longer, w+"a", w+"b", w+"c")
		}
		list = longer
	}
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if !within(a, b) {
			if fmt.Sprint(a) == fmt.Sprint(b) {
				t.Fatalf("%v is not within itself", a)
			}
			return
		}
		found++
		x, y := regexp.MustCompile(pattern(a)), regexp.MustCompile(pattern(b))
		for _, w := range all {
			if x.MatchString(w) && !y.MatchString(w) {
				t.Fatalf("%v within %v: but not %s", a, b, w)
			}
		}
	})
	if found == 0 {
		t.Error("no word was within another")
	}
}

// TestWithout compares taking a message out with all short words.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := word.Filter(func(w []Block) bool { return len(w) > 0 }).Draw(t, "word")
		x := regexp.MustCompile(pattern(w))
		var rests []*regexp.Regexp
		for _, r := range (&verifier{}).without(w, 0) {
			rests = append(rests, regexp.MustCompile(pattern(r)))
		}
		for _, s := range rapid.SliceOfN(rapid.StringMatching("[abc]{1,8}"), 30, 30).Draw(t, "contents") {
			if !x.MatchString(s) {
				continue
			}
			matched := false
			for _, r := range rests {
				matched = matched || r.MatchString(s[1:])
			}
			if !matched {
				t.Fatalf("%v without its first: %s is left of %s", w, s[1:], s)
			}
		}
	})
}

// condition makes conditions over two lengths.
func condition(t *rapid.T, depth int) model.Expr {
	base := model.ExprBase{T: &model.Type{Kind: model.KindBool}}
	number := model.ExprBase{T: &model.Type{Kind: model.KindInt, Hi: 99}}
	length := func() model.Expr {
		if rapid.Bool().Draw(t, "constant") {
			return &model.Lit{ExprBase: number, Value: rapid.Int64Range(0, 4).Draw(t, "number")}
		}
		return &model.ChanLen{ExprBase: number, Self: true, Out: rapid.Bool().Draw(t, "out")}
	}
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "compare") == 0 {
		x := length()
		if rapid.Bool().Draw(t, "sum") {
			x = &model.Binary{ExprBase: number, Op: model.OpAdd, X: x, Y: length()}
		}
		ops := []model.Op{model.OpEq, model.OpNe, model.OpLt, model.OpLe, model.OpGt, model.OpGe}
		return &model.Binary{ExprBase: base, Op: rapid.SampledFrom(ops).Draw(t, "op"), X: x, Y: length()}
	}
	if rapid.IntRange(0, 3).Draw(t, "not") == 0 {
		return &model.Unary{ExprBase: base, Op: model.OpNot, X: condition(t, depth-1)}
	}
	op := rapid.SampledFrom([]model.Op{model.OpAnd, model.OpOr, model.OpImplies}).Draw(t, "op")
	return &model.Binary{ExprBase: base, Op: op, X: condition(t, depth-1), Y: condition(t, depth-1)}
}

// TestTruth compares conditions over ranges with the condition at each length in the ranges.
func TestTruth(t *testing.T) {
	answers := map[Truth]int{}
	rapid.Check(t, func(t *rapid.T) {
		e := condition(t, 3)
		lo := []int64{rapid.Int64Range(0, 3).Draw(t, "in"), rapid.Int64Range(0, 3).Draw(t, "out")}
		hi := []int64{lo[0] + rapid.Int64Range(0, 4).Draw(t, "more in"),
			lo[1] + rapid.Int64Range(0, 4).Draw(t, "more out")}
		side := func(l *model.ChanLen) int {
			if l.Out {
				return 1
			}
			return 0
		}
		x := Lengths{Range: func(l *model.ChanLen) (int64, int64) { return lo[side(l)], hi[side(l)] }}
		got, err := x.Truth(e, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		answers[got]++
		for a := lo[0]; a <= hi[0]; a++ {
			for b := lo[1]; b <= hi[1]; b++ {
				at := []int64{a, b}
				exact := Lengths{Range: func(l *model.ChanLen) (int64, int64) { return at[side(l)], at[side(l)] }}
				want, _ := exact.Truth(e, nil, nil)
				if got != Maybe && got != want {
					t.Fatalf("%s is %d, but %d where %d are coming in and %d going out", model.ExprString(e),
						got, want, a, b)
				}
			}
		}
	})
	if len(answers) != 3 {
		t.Errorf("only some answers occurred: %v", answers)
	}
}

// TestRead: what is no certificate is refused with the line.
func TestRead(t *testing.T) {
	head := `{"certificate":"` + Format + `","check":"x"}` + "\n"
	for text, want := range map[string]string{
		"":                           "empty",
		"{}":                         "line 1",
		head + "{}":                  "line 2 of the certificate: it says nothing",
		head + `{"w":[[0,0]]}`:       "no message 0",
		head + `{"w":[[-1,0]]}`:      "a block is",
		head + `{"w":[[0,0,1]]}`:     "a block is",
		head + "{\"c\":[0]}\nnot so": "line 3",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
