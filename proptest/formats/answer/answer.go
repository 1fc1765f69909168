// Package answer lets another process ask generated codecs about frames and messages, all at once: package formats
// builds a program of it and of codecs that it has drawn. It knows no format. Start from [Serve].
package answer

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/parley-go/parley/runtime/wire"
)

// Codec is the codec of a generated package.
type Codec interface {
	// answer answers about a frame, or about a message.
	answer(q *Request) Answer
}

// Of returns the codec of a package whose messages are an M.
func Of[M any](size func([]byte) (int, error), decode func([]byte, *M) error,
	encode func([]byte, *M) ([]byte, error)) Codec {
	return &codec[M]{size, decode, encode, new(M), make([]byte, 0, 1<<16)}
}

// Request asks a codec what a frame is, or to Write a message.
type Request struct {
	Codec int
	Write bool
	Frame []byte
	// Kind is the number of a message, Member the field of the Go type that has it if it has any, Leaves its values.
	Kind   int
	Member string
	Leaves []uint64
	// Count asks how much is allocated.
	Count bool
}

// Answer is what a codec does.
type Answer struct {
	Size    int
	SizeErr wire.Error
	Err     wire.Error
	Text    string // the message, if it was read
	Frame   []byte // what is written for it
	// Allocated is how many times something was allocated to read and to write it.
	Allocated int
	Panic     string
}

type codec[M any] struct {
	size   func([]byte) (int, error)
	decode func([]byte, *M) error
	encode func([]byte, *M) ([]byte, error)
	m      *M // the same one for all, as programs have it
	buffer []byte
}

func (c *codec[M]) answer(q *Request) (a Answer) {
	defer func() {
		if x := recover(); x != nil {
			a.Panic = fmt.Sprint(x)
		}
	}()
	if q.Write {
		m := new(M)
		v := reflect.ValueOf(m).Elem()
		v.FieldByName("Kind").SetUint(uint64(q.Kind))
		if q.Member != "" {
			leaves := q.Leaves
			fill(v.FieldByName(q.Member), &leaves)
		}
		return c.written(m, a)
	}
	n, err := c.size(q.Frame)
	a.Size, a.SizeErr = n, wireError(err)
	if err := c.decode(q.Frame, c.m); err != nil {
		a.Err = wireError(err)
		return a
	}
	a.Text = any(c.m).(fmt.Stringer).String()
	if q.Count {
		a.Allocated = int(testing.AllocsPerRun(3, func() {
			c.decode(q.Frame, c.m)
			c.encode(c.buffer, c.m)
		}))
	}
	return c.written(c.m, a)
}

// written adds the frame of a message, behind a byte that was there.
func (c *codec[M]) written(m *M, a Answer) Answer {
	b, err := c.encode([]byte{'x'}, m)
	a.Err = wireError(err)
	if a.Frame = b; len(b) == 0 || b[0] != 'x' {
		a.Panic = "what was there before the frame is lost"
	}
	return a
}

// wireError returns the error of a codec; one without a problem is none.
func wireError(err error) (e wire.Error) {
	if err != nil && !errors.As(err, &e) {
		panic(fmt.Sprintf("%v is no wire.Error", err))
	}
	return e
}

// fill gives the leaves of a value numbers, in their order.
func fill(v reflect.Value, from *[]uint64) {
	next := func() uint64 {
		n := (*from)[0]
		*from = (*from)[1:]
		return n
	}
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(next() != 0)
	case v.CanUint():
		v.SetUint(next())
	case v.CanInt():
		v.SetInt(int64(next()))
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), from)
		}
	default:
		for i := range v.NumField() {
			fill(v.Field(i), from)
		}
	}
}

// Serve reads requests until there are no more, and writes an answer to each.
func Serve(in io.Reader, out io.Writer, codecs ...Codec) error {
	r, w := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var q Request
		if err := r.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := w.Encode(codecs[q.Codec].answer(&q)); err != nil {
			return err
		}
	}
}
