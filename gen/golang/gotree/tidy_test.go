package gotree

import "testing"

// TestTidy: what is written takes fewer lines and asks the same in the same order.
func TestTidy(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"refusals that follow each other", `
			if !m.a(fx) {
				return false
			}
			if !m.b(fx) {
				return false
			}
			m.State = 1
			return true`, `
			if !m.a(fx) || !m.b(fx) {
				return false
			}
			m.State = 1
			return true`},
		{"a call that decides", `
			if !m.a(fx) {
				return false
			}
			if !m.b(fx) {
				return false
			}
			return true`, `
			return m.a(fx) && m.b(fx)`},
		{"another result", `
			if !m.a(fx) {
				return refused(1)
			}
			if !m.b(fx) {
				return refused(2)
			}
			return took(1)`, `
			if !m.a(fx) {
				return refused(1)
			}
			if !m.b(fx) {
				return refused(2)
			}
			return took(1)`},
		{"the same call twice is made twice", `
			if !m.a(fx) {
				return false
			}
			if !m.a(fx) {
				return false
			}
			return true`, `
			return m.a(fx) && m.a(fx)`},
		{"a guard before a call", `
			if m.Now <= m.End {
				return m.a(fx)
			}
			return false`, `
			return m.Now <= m.End && m.a(fx)`},
		{"a condition inside of another", `
			if m.Now > m.End {
				if !m.a(fx) {
					return false
				}
			}
			return m.b(fx)`, `
			if m.Now > m.End && !m.a(fx) {
				return false
			}
			return m.b(fx)`},
		{"states that do the same", `
			switch m.State {
			case A:
				// spec.yaml:1
				return m.a(fx)
			case B:
				return true
			case C:
				// spec.yaml:1
				return m.a(fx)
			}
			return false`, `
			switch m.State {
			case A, C:
				// spec.yaml:1
				return m.a(fx)
			case B:
				return true
			}
			return false`},
		{"one state", `
			switch m.State {
			case A:
				m.n++
				return true
			}
			return false`, `
			if m.State != A {
				return false
			}
			m.n++
			return true`},
		{"one state that goes on", `
			switch m.State {
			case A:
				m.n++
			}
			m.k++
			return true`, `
			if m.State == A {
				m.n++
			}
			m.k++
			return true`},
	} {
		f := F("func f() bool {\n$1\n}", S(c.before))
		f.Tidy()
		if got, want := text(f), text(F("func f() bool {\n$1\n}", S(c.after))); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
	f := F("func f() {\nswitch m.State {\ncase A:\nif b {\nm.n++\nreturn\n}\nm.k++\nreturn\ncase B:\nreturn\n}\n}")
	f.Tidy()
	if got, want := text(f), "func f() {\n\tswitch m.State {\n\tcase A:\n\t\tif b {\n\t\t\tm.n++\n"+
		"\t\t\treturn\n\t\t}\n\t\tm.k++\n\tcase B:\n\t}\n}"; got != want {
		t.Errorf("a function without a result:\n%s", got)
	}
}

// text is a function as text.
func text(f *Func) string { return f.Code().GoString() }
