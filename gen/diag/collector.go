package diag

import "fmt"

// Collector gathers the diagnostics of a stage. The zero value is ready for use.
type Collector struct{ list []*Diagnostic }

// Errorf adds an error. Code must be one of the table of codes.
func (c *Collector) Errorf(code string, at Span, format string, args ...any) *Diagnostic {
	return c.add(code, Error, at, format, args)
}

// Warnf adds a warning.
func (c *Collector) Warnf(code string, at Span, format string, args ...any) *Diagnostic {
	return c.add(code, Warning, at, format, args)
}

func (c *Collector) add(code string, sev Severity, at Span, format string, args []any) *Diagnostic {
	d := &Diagnostic{Code: code, Severity: sev, Span: at, Message: fmt.Sprintf(format, args...)}
	c.list = append(c.list, d)
	return d
}

// Len returns how many diagnostics there are.
func (c *Collector) Len() int { return len(c.list) }

// HasErrors reports whether there is an error among them.
func (c *Collector) HasErrors() bool {
	for _, d := range c.list {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// List returns the diagnostics in the order they were added.
func (c *Collector) List() List {
	var l List
	for _, d := range c.list {
		l = append(l, *d)
	}
	return l
}

// With sets the hint of d; an empty one changes nothing.
func (d *Diagnostic) With(hint string) *Diagnostic {
	if hint != "" {
		d.Hint = hint
	}
	return d
}

// See adds a related place to d.
func (d *Diagnostic) See(at Span, format string, args ...any) *Diagnostic {
	d.Related = append(d.Related, Related{Span: at, Message: fmt.Sprintf(format, args...)})
	return d
}

// Join adds what another collector has.
func (c *Collector) Join(d *Collector) { c.list = append(c.list, d.list...) }

// Add adds a finished diagnostic.
func (c *Collector) Add(d Diagnostic) { c.list = append(c.list, &d) }
