package capi

import (
	"fmt"
	"strconv"
	"strings"
)

// Params are the arguments of a new machine or of the library: `wins: true, index: 1`. Values are
// true, false, numbers, or texts in quotation marks.
type Params struct {
	values map[string]string
	used   map[string]bool
	err    error
}

// ParseParams reads `name: value, …`, in braces or not.
func ParseParams(text string) (*Params, error) {
	p := &Params{values: map[string]string{}, used: map[string]bool{}}
	rest := strings.TrimSpace(text)
	if strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}") {
		rest = strings.TrimSpace(rest[1 : len(rest)-1])
	}
	for rest != "" {
		name, after, ok := strings.Cut(rest, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " ,\"") {
			return nil, fmt.Errorf("%q: want `name: value, …`", text)
		}
		if _, twice := p.values[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		after = strings.TrimSpace(after)
		value := after
		if quoted, err := strconv.QuotedPrefix(after); err == nil {
			value = quoted
		} else if i := strings.IndexByte(after, ','); i >= 0 {
			value = strings.TrimSpace(after[:i])
		}
		p.values[name] = value
		rest = strings.TrimSpace(after[len(value):])
		if rest != "" && !strings.HasPrefix(rest, ",") {
			return nil, fmt.Errorf("%q: want a comma before %q", text, rest)
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
	}
	return p, nil
}

func (p *Params) take(name, what string) (string, bool) {
	p.used[name] = true
	v, ok := p.values[name]
	if !ok && p.err == nil {
		p.err = fmt.Errorf("the parameter %s is missing: %s", name, what)
	}
	return v, ok
}

// Wrong notes that the value of a parameter is not what it has to be, unless something was wrong before.
func (p *Params) Wrong(name, value, what string) {
	if p.err == nil {
		p.err = fmt.Errorf("the parameter %s is %s, not %s", name, value, what)
	}
}

// Has reports whether a parameter was given.
func (p *Params) Has(name string) bool {
	_, ok := p.values[name]
	return ok
}

// Bool takes and returns a parameter that is true or false.
func (p *Params) Bool(name string) bool {
	v, ok := p.take(name, "true or false")
	if ok && v != "true" && v != "false" {
		p.Wrong(name, v, "true or false")
	}
	return v == "true"
}

// Int takes and returns a parameter that is a number from lo to hi.
func (p *Params) Int(name string, lo, hi int64) int64 {
	what := fmt.Sprintf("a number in %d..%d", lo, hi)
	v, ok := p.take(name, what)
	n, err := strconv.ParseInt(v, 0, 64)
	if ok && (err != nil || n < lo || n > hi) {
		p.Wrong(name, v, what)
		return lo
	}
	return n
}

// Text takes and returns a parameter that is a text of at most most bytes.
func (p *Params) Text(name string, most int) string {
	what := fmt.Sprintf("a text of at most %d bytes in quotation marks", most)
	v, ok := p.take(name, what)
	s, err := strconv.Unquote(v)
	if ok && (err != nil || len(s) > most || v[0] == '\'') {
		p.Wrong(name, v, what)
		return ""
	}
	return s
}

// Err returns the first error of the parameters taken so far.
func (p *Params) Err() error { return p.err }

// End returns the first error, or one for a parameter that nobody has taken.
func (p *Params) End() error {
	if p.err != nil {
		return p.err
	}
	for name := range p.values {
		if !p.used[name] {
			return fmt.Errorf("there is no parameter %s", name)
		}
	}
	return nil
}
