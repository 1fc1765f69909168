package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"syscall"

	"github.com/parley-go/parley/gen/files"
)

// Describe is the text of an error for people: where the operating system or the JSON reader speaks in
// it, in words.
func Describe(err error) string {
	text := err.Error()
	var path *fs.PathError
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &path):
		return strings.Replace(text, path.Error(), path.Path+": "+Reason(path), 1)
	case errors.As(err, &kind):
		return strings.Replace(text, kind.Error(), mismatch(kind), 1)
	case errors.As(err, &syntax):
		words := "this is no JSON"
		if strings.Contains(syntax.Error(), "unexpected end") {
			words = "the JSON ends too early"
		}
		return strings.Replace(text, syntax.Error(), words, 1)
	}
	return text
}

// Reason is why a file cannot be read or written, without its name.
func Reason(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, files.ErrNoFolder):
		return files.ErrNoFolder.Error()
	case errors.Is(err, files.ErrTakesNone):
		return files.ErrTakesNone.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case errors.Is(err, fs.ErrPermission):
		return "permission is missing"
	case errors.Is(err, syscall.EISDIR), errors.Is(err, files.ErrFolder):
		return "it is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "part of its path is a file, not a folder"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

// mismatch says what stands where something else is needed.
func mismatch(e *json.UnmarshalTypeError) string {
	what, _, _ := strings.Cut(e.Value, " ")
	what = map[string]string{"string": "a text", "number": "a number", "array": "a list", "object": "an object",
		"bool": "true or false"}[what]
	if what == "" {
		what = e.Value
	}
	needs := "something else"
	switch e.Type.Kind() {
	case reflect.String:
		needs = "a text"
	case reflect.Slice, reflect.Array:
		needs = "a list"
	case reflect.Struct, reflect.Map:
		needs = "an object"
	case reflect.Bool:
		needs = "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64:
		needs = "a whole number of the right size"
	}
	if e.Field == "" {
		return fmt.Sprintf("it is %s, but %s is needed", what, needs)
	}
	return fmt.Sprintf("%q is %s, but %s is needed", strings.ToLower(e.Field), what, needs)
}
