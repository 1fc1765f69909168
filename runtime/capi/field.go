package capi

import (
	"fmt"
	"strconv"
	"strings"
)

// Field returns the value of a field of an event's text, such as item in
// `changed{item: 3, by: "ann"}`: a text without its quotation marks, everything else as it
// stands there. Fields of records are reached with dots.
func Field(text, name string) (string, error) {
	for _, part := range strings.Split(name, ".") {
		inner, err := field(text, part)
		if err != nil {
			return "", fmt.Errorf("%q has no field %s: %w", text, name, err)
		}
		text = inner
	}
	if s, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		return s, nil
	}
	return text, nil
}

// FieldInt is Field for numbers; true is 1 and false 0.
func FieldInt(text, name string) (int64, error) {
	s, err := Field(text, name)
	switch {
	case err != nil:
		return 0, err
	case s == "true":
		return 1, nil
	case s == "false":
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		u, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("the field %s of %q is no number", name, text)
		}
		return int64(u), nil
	}
	return n, nil
}

// field finds `name: value` in the outermost braces.
func field(text, name string) (string, error) {
	_, rest, ok := strings.Cut(text, "{")
	if !ok {
		return "", fmt.Errorf("it has no fields")
	}
	for {
		rest = strings.TrimLeft(rest, " ")
		key, after, ok := strings.Cut(rest, ":")
		if !ok {
			return "", fmt.Errorf("there is none of this name")
		}
		value, more := cutValue(strings.TrimLeft(after, " "))
		if key == name {
			return value, nil
		}
		if rest, ok = strings.CutPrefix(more, ","); !ok {
			return "", fmt.Errorf("there is none of this name")
		}
	}
}

// cutValue cuts a text behind its first value.
func cutValue(s string) (value, rest string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			quoted, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return s, ""
			}
			i += len(quoted) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s[:i], s[i:]
			}
			depth--
		case ',':
			if depth == 0 {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}
