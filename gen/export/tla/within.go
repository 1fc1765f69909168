package tla

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
)

// A claim with `within` has a stopwatch, which sees the configuration after each step: a variable of the module, since
// it is no part of any machine. Watch is runtime/world's Stopwatch.Next in the words of TLA+.

// bounded are the claims with a bound in ticks.
func (m *module) bounded() (out []*model.Claim) {
	for _, c := range m.c.Claims {
		if c.Within > 0 {
			out = append(out, c)
		}
	}
	return out
}

// watches writes what a stopwatch does, and what those of the check look at.
func (m *module) watches() {
	if !m.has["within"] {
		return
	}
	m.define("Late(most)", "2 * (most + 3)")
	m.define("Watch(v, felt, unfelt, goal, when, most)", strings.Join([]string{
		"LET n == IF v = 0 THEN (IF felt /\\ unfelt THEN 1 ELSE 2)",
		"         ELSE (v \\div 2) + (IF v % 2 = 1 /\\ ~unfelt THEN 1 ELSE 0) IN",
		"IF v = Late(most) THEN v",
		"ELSE IF goal \\/ (v = 0 /\\ ~when) THEN 0",
		"ELSE IF n > most + 2 THEN Late(most)",
		"ELSE 2 * n + (IF unfelt THEN 1 ELSE 0)"}, "\n"))
	for k, c := range m.bounded() {
		looked := "{"
		for _, i := range core.Looked(len(m.c.Instances), core.Of(c.When), core.Of(c.Expr)) {
			if !m.c.Instances[i].IsHostile() {
				looked += fmt.Sprintf("%d, ", i)
			}
		}
		looked = strings.TrimSuffix(looked, ", ") + "}"
		m.define(fmt.Sprintf("Felt%d", k+1), looked+" \\ net.beats # {}")
		m.define(fmt.Sprintf("Unfelt%d", k+1), looked+" \\cap net.beats # {}")
		m.define(fmt.Sprintf("Goal%d", k+1), m.holds(nil, c.Expr))
		m.define(fmt.Sprintf("When%d", k+1), m.holds(nil, c.When))
	}
	m.define("Watched", "watch' = "+m.watching(func(k int) string { return fmt.Sprintf("watch[%d]", k) }, "'"))
}

// watching is what the stopwatches are, from what they were, with what they look at in this configuration, or in the
// next one.
func (m *module) watching(from func(k int) string, prime string) string {
	var list []string
	for k, c := range m.bounded() {
		text := fmt.Sprintf("Watch(%s", from(k+1))
		for _, name := range []string{"Felt", "Unfelt", "Goal", "When"} {
			text += fmt.Sprintf(", %s%d%s", name, k+1, prime)
		}
		list = append(list, fmt.Sprintf("%s, %d)", text, m.c.Time.Beats(c.Within)))
	}
	return "<<" + strings.Join(list, ", ") + ">>"
}

// watched is what every step says besides, where there are stopwatches.
func (m *module) watched() string {
	if !m.has["within"] {
		return ""
	}
	return " /\\ Watched"
}
