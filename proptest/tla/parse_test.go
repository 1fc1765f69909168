package tla_test

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/tla"
)

// module is a module with some definitions.
func module(defs string) string {
	return "---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\nVARIABLES x, y\nvars == <<x, y>>\n" +
		defs +
		"\n====\n"
}

// TestStrict: the parser takes nothing that SANY would not take.
func TestStrict(t *testing.T) {
	for _, c := range []struct{ name, defs, want string }{
		{"list not aligned", "A ==\n  /\\ x = 1\n    /\\ y = 1\n  /\\ x = 2\n /\\ y = 2",
			"a list that is not aligned"},
		{"operand at the margin of its list", "A ==\n  /\\ x =\n  1", "an expression is missing"},
		{"lists of two kinds", "A == x = 1 /\\ y = 1 \\/ x = 2", "/\\ and \\/ without parentheses"},
		{"no order of precedence", "A == 1 = 2 = 3", "= and = without parentheses"},
		{"minus and percent", "A == 7 % 2 - 1", "% and - without parentheses"},
		{"keyword as name", "THEN == 1", "THEN is no name"},
		{"field with the name of a keyword", "A == [IF |-> 1]", "begins no expression"},
		{"not declared", "A == z", "z is not declared"},
		{"used before it is defined", "A == B\nB == 1", "B is used before it is defined"},
		{"defined twice", "A == 1\nA == 2", "A is declared twice"},
		{"standard name", "Len(s) == 1", "Len is declared twice"},
		{"bound name declared already", "A == \\A x \\in {1} : x = 1", "x is declared already"},
		{"LET of a name declared already", "A(a) == LET a == 1 IN a", "a is declared already"},
		{"nested bound names", "A == \\E k \\in {1} : \\A k \\in {2} : k = 1", "k is declared already"},
		{"arguments", "A(a) == a\nB == A(1, 2)", "A takes 1 arguments"},
		{"recursive", "A(a) == A(a)", "A uses itself"},
		{"prime of an expression", "A == (x + 1)' = 2", "only variables and operators without parameters are primed"},
		{"prime of a prime", "A == x'' = 2", "only variables and operators without parameters are primed"},
		{"action as value", "A == x' = 1\nB == y' = (x' = 1)", "of a level that cannot stand here"},
		{"action as condition", "A == IF x' = 1 THEN TRUE ELSE FALSE", "of a level that cannot stand here"},
		{"action under all", "A == \\A k \\in {1} : x' = k", "an action under"},
		{"ENABLED of a state", "A == ENABLED (x = 1)", "ENABLED of what is no action"},
		{"box over an action that is no [A]_v", "A == [](x' = 1)", "an action in a temporal formula"},
		{"number", "A == 99999999999", "more than 31 bits"},
		{"no end of a string", "A == \"a", "a string without an end"},
		{"tab", "A ==\t1", "a tab"},
	} {
		if _, err := tla.Parse(module(c.defs)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v instead of %q", c.name, err, c.want)
		}
	}
}

// TestValues: expressions have the values that the book gives them. Each holds as an invariant of the first state.
func TestValues(t *testing.T) {
	for _, e := range []string{
		`2 + 3 * 4 = 14`, `7 - 2 - 1 = 4`, `(-7) \div 2 = -4`, `(-7) % 2 = 1`, `1..0 = {}`, `{3, 1, 2, 1} = 1..3`,
		`Cardinality({1, 2} \X {"a"}) = 2`, `<<1, "a">> \in {1, 2} \X {"a"}`, `UNION {{1}, {2, 3}} = 1..3`,
		`{k \in 1..5 : k % 2 = 0} = {2, 4}`, `{k * k : k \in 1..3} = {1, 4, 9}`, `{1, 2} \ {2} = {1}`,
		`{1} \subseteq {1, 2} /\ ~({3} \subseteq {1, 2})`, `Len(<<1, 2>>) = 2 /\ Head(<<1, 2>>) = 1`,
		`Tail(<<1, 2>>) = <<2>> /\ Append(<<1>>, 2) = <<1, 2>>`, `<<1>> \o <<2>> = <<1, 2>>`,
		`SubSeq(<<1, 2, 3>>, 2, 3) = <<2, 3>>`, `SubSeq(<<1, 2, 3>>, 3, 2) = <<>>`,
		`SelectSeq(<<1, 2, 3>>, LAMBDA k : k # 2) = <<1, 3>>`, `[k \in 1..2 |-> k * k] = <<1, 4>>`,
		`[a |-> 1, b |-> 2].b = 2`, `[[a |-> 1, b |-> 2] EXCEPT !.a = @ + 4].a = 5`,
		`[<<<<1, 2>>, 3>> EXCEPT ![1][2] = 9] = <<<<1, 9>>, 3>>`, `DOMAIN <<5, 6>> = {1, 2}`,
		`DOMAIN [a |-> 1] = {"a"}`,
		`(1 :> 2 @@ 1 :> 3) = <<2>>`, `(0 :> 1)[0] = 1`, `[k \in {} |-> 1] = <<>>`,
		`(CHOOSE k \in 1..9 : k * k = 16) = 4`, `(\A k \in {} : FALSE) /\ ~(\E k \in {} : TRUE)`,
		`(IF 1 = 1 THEN "a" ELSE 1) = "a"`, `(CASE 1 = 2 -> 1 [] OTHER -> 2) = 2`,
		`(LET f[k \in 0..9] == IF k = 0 THEN 0 ELSE k + f[k - 1] IN f[4]) = 10`,
		`(LET g(k) == k + 1 IN g(g(1))) = 3`, `~(1 = 2) => TRUE`, `FALSE => (1 \div 0 = 1)`, `TRUE \/ (1 \div 0 = 1)`,
		`{<<>>, <<1>>} # {<<>>}`, `BOOLEAN = {TRUE, FALSE}`, `"a" # "b" /\ "a\"\\" = "a\"\\"`,
		`~ENABLED Never /\ ENABLED Next`,
	} {
		spec, err := tla.Parse(module("Never == x' = 1 /\\ y' = 1 /\\ FALSE\nNext == x' = x /\\ UNCHANGED y\n" +
			"Init ==\n  /\\ x = 1\n  /\\ y = 1\nHolds == " + e))
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		res, err := spec.Search(tla.Options{Invariants: []string{"Holds"}})
		if err != nil || len(res.Violated) > 0 || res.States != 1 {
			t.Errorf("%s: %v, %+v", e, err, res)
		}
	}
}

// TestStops: what TLC would not evaluate is an error, and no value.
func TestStops(t *testing.T) {
	for _, c := range []struct{ next, want string }{
		{"x' = 1 /\\ x' = 2 /\\ y' = 1", "x' is given a value twice"},
		{"x' = 1", "a step gives y' no value"},
		{"x' = y' /\\ y' = 1", "y' is not known yet"},
		{"x' = Pick(One', 0) /\\ y' = 1", "y' is not known yet"},
		{"y' = 2 /\\ x' = Pick(One', 0)", "is divided by 0"},
		{"x' = (IF x = \"a\" THEN 1 ELSE 2) /\\ y' = y", "is compared with"},
		{"x' = <<1>>[2] /\\ y' = y", "not in its domain"},
		{"x' = [<<1>> EXCEPT ![2] = 1] /\\ y' = y", "not in its domain"},
		{"x' = Head(<<>>) /\\ y' = y", "of the empty sequence"},
		{"x' = 2147483647 + x /\\ y' = y", "more than 31 bits"},
		{"x' = 1 \\div (x - 1) /\\ y' = y", "is divided by 0"},
		{"x' = (CHOOSE k \\in {} : TRUE) /\\ y' = y", "CHOOSE of nothing"},
		{"x' = (CASE x = 1 -> 1 [] y = 1 -> 2) /\\ y' = y", "two conditions of a CASE hold"},
		{"x' = (CASE x = 2 -> 1) /\\ y' = y", "no condition of a CASE holds"},
		{"x' = (LET f[k \\in 1..2] == k IN f[3]) /\\ y' = y", "not in its domain"},
	} {
		spec, err := tla.Parse(module("One == y = 1\nPick(b, n) == 1 \\div (IF b THEN 1 ELSE n)\nNext == " + c.next +
			"\nInit ==\n  /\\ x = 1\n  /\\ y = 1"))
		if err == nil {
			_, err = spec.Search(tla.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v instead of %q", c.next, err, c.want)
		}
	}
}

// TestSearch: configurations are counted once, with the length of the shortest run to each, and what steps leave open
// is tried in every way.
func TestSearch(t *testing.T) {
	spec, err := tla.Parse(module(`Add == \E k \in 1..2 : x + k <= 6 /\ x' = x + k /\ UNCHANGED y
Fail == x = 4 /\ y' = "bad" /\ UNCHANGED x
Next ==
  /\ y = ""
  /\ \/ Add
     \/ LET z == x IN
        /\ z > 0
        /\ \E k \in {0} : x' = k
        /\ y' = y
     \/ Fail
Init ==
  /\ x = 0
  /\ y = ""
Small == x < 5
Spec == Init /\ [][Next]_vars /\ WF_vars(Add) /\ (\A k \in 1..2 : SF_vars(Add /\ x = k))
Goal == (x = 0) ~> (x = 6)`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := spec.Search(tla.Options{Invariants: []string{"Small"}, Failing: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if res.States != 8 || res.Failed != 1 || res.Failures["bad"] != 3 || res.Violated["Small"] != 3 ||
		res.Depth != 3 {
		t.Errorf("%+v", res)
	}
	if _, err := spec.Search(tla.Options{Invariants: []string{"Goal"}}); err == nil ||
		!strings.Contains(err.Error(), "is no invariant") {
		t.Errorf("a temporal formula as invariant: %v", err)
	}
}
