//go:build cgo

package capi

/*
#define PARLEY_NO_PROTOTYPES // parley.c defines those of the header; it calls what is exported here
#include "parley.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/parley-go/parley/runtime/fsm"
)

// handle is what a caller holds.
type handle interface {
	Poll(wait time.Duration, most int) (Event, error)
	Close()
}

var handles = struct {
	sync.Mutex
	next int64
	all  map[int64]handle
}{next: 1, all: map[int64]handle{}}

func enter(h handle) int64 {
	handles.Lock()
	defer handles.Unlock()
	n := handles.next
	handles.next++
	handles.all[n] = h
	return n
}

func find(n C.int64_t) (handle, error) {
	handles.Lock()
	defer handles.Unlock()
	if h := handles.all[int64(n)]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("%w: handle %d", ErrNoHandle, int64(n))
}

// machine finds one that was opened by itself.
func machine(n C.int64_t) (*Machine, error) {
	h, err := find(n)
	if err != nil {
		return nil, err
	}
	m, ok := h.(*Machine)
	if !ok {
		return nil, fmt.Errorf("handle %d is a server, which takes its links itself", int64(n))
	}
	return m, nil
}

// machineOf finds the machine of a connection, or, for peer -1, one that was opened by itself.
func machineOf(n C.int64_t, peer C.int32_t) (*Machine, error) {
	h, err := find(n)
	if err != nil {
		return nil, err
	}
	switch h := h.(type) {
	case *Machine:
		if peer == -1 {
			return h, nil
		}
		return nil, fmt.Errorf("handle %d is one machine and no server: its number here is -1", int64(n))
	case *Server:
		p, err := number(peer)
		if err != nil {
			return nil, err
		}
		return h.of(p)
	}
	return nil, ErrNoHandle
}

// number is the number of a peer. What C has more of than Go is none.
func number(peer C.int32_t) (fsm.Peer, error) {
	if peer < 0 || peer > math.MaxInt16 {
		return 0, fmt.Errorf("there is no peer %d", int32(peer))
	}
	return fsm.Peer(peer), nil
}

// maxText is the longest text that is read from a caller, in bytes.
const maxText = 1 << 20

func text(what string, s *C.char) (string, error) {
	if s == nil {
		return "", fmt.Errorf("the %s is NULL", what)
	}
	for n := range maxText {
		if *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) == 0 {
			return C.GoStringN(s, C.int(n)), nil
		}
	}
	return "", fmt.Errorf("the %s does not end within %d bytes", what, maxText)
}

// buffer is a caller's memory. NULL and a size of 0 are an empty one.
func buffer(what string, at unsafe.Pointer, size C.size_t) ([]byte, error) {
	switch {
	case uint64(size) > math.MaxInt32:
		return nil, fmt.Errorf("the size of the %s is %d, which no buffer has: a negative number?", what, uint64(size))
	case at == nil:
		return nil, nil
	}
	return unsafe.Slice((*byte)(at), int(size)), nil
}

// put copies a text with its final zero. ErrShort says that there is no room; then it is cut.
func put(s string, to []byte) error {
	if len(to) > 0 {
		to[copy(to[:len(to)-1], s)] = 0
	}
	if len(s) >= len(to) {
		return fmt.Errorf("%w: the text has %d bytes with its zero", ErrShort, len(s)+1)
	}
	return nil
}

// answer is a text for a caller's buffer.
func answer(s string, to *C.char, size C.size_t) error {
	b, err := buffer("text", unsafe.Pointer(to), size)
	if err != nil {
		return err
	}
	return put(s, b)
}

// code turns an error into a number, and its text into err.
func code(e error, err *C.parley_error) C.int64_t {
	if err != nil {
		s := ""
		if e != nil {
			s = e.Error()
		}
		put(s, unsafe.Slice((*byte)(unsafe.Pointer(&err.text[0])), len(err.text)))
	}
	switch {
	case e == nil:
		return C.PARLEY_OK
	case errors.Is(e, ErrRefused):
		return C.PARLEY_REFUSED
	case errors.Is(e, ErrTimeout):
		return C.PARLEY_NOTHING
	case errors.Is(e, ErrShort):
		return C.PARLEY_SHORT
	case errors.Is(e, ErrEnded):
		return C.PARLEY_ENDED
	}
	return C.PARLEY_ERROR
}

// call is what every export is made of: whatever happens in f, the caller gets a number.
func call(err *C.parley_error, f func() error) (n C.int64_t) {
	defer func() {
		if p := recover(); p != nil {
			n = code(fault(p), err)
		}
	}()
	return code(f(), err)
}

// opened is call for what makes a handle.
func opened(err *C.parley_error, f func() (int64, error)) C.int64_t {
	var h int64
	n := call(err, func() (e error) { h, e = f(); return e })
	if n == C.PARLEY_OK {
		return C.int64_t(h)
	}
	return n
}

//export parley_go_names
func parley_go_names(to *C.char, size C.size_t, err *C.parley_error) C.int64_t {
	return call(err, func() error { return answer(strings.Join(Names(), " "), to, size) })
}

//export parley_go_open
func parley_go_open(name, params *C.char, err *C.parley_error) C.int64_t {
	return opened(err, func() (int64, error) {
		who, e := text("name", name)
		if e != nil {
			return 0, e
		}
		p, e := text("text of the parameters", params)
		if e != nil {
			return 0, e
		}
		m, e := Open(who, p)
		if e != nil {
			return 0, e
		}
		return enter(m), nil
	})
}

//export parley_go_open_server
func parley_go_open_server(
	name, params *C.char, most C.int32_t, link, address *C.char, size C.size_t, err *C.parley_error,
) C.int64_t {
	return opened(err, func() (int64, error) {
		var texts [3]string
		for i, at := range []*C.char{name, params, link} {
			var e error
			if texts[i], e = text([]string{"name", "text of the parameters", "link"}[i], at); e != nil {
				return 0, e
			}
		}
		room, e := buffer("address", unsafe.Pointer(address), size)
		if e != nil {
			return 0, e
		}
		s, at, e := OpenServer(texts[0], texts[1], int(most), texts[2])
		if e != nil {
			return 0, e
		}
		if e := put(at, room); e != nil && room != nil {
			s.Close()
			return 0, e
		}
		return enter(s), nil
	})
}

//export parley_go_connect
func parley_go_connect(h C.int64_t, peer C.int32_t, link *C.char, err *C.parley_error) C.int64_t {
	return call(err, func() error {
		m, e := machine(h)
		if e != nil {
			return e
		}
		p, e := number(peer)
		if e != nil {
			return e
		}
		l, e := text("link", link)
		if e != nil {
			return e
		}
		return m.Connect(p, l)
	})
}

//export parley_go_serve
func parley_go_serve(
	h C.int64_t, first, last, once C.int32_t, link, address *C.char, size C.size_t, err *C.parley_error,
) C.int64_t {
	return call(err, func() error {
		m, e := machine(h)
		if e != nil {
			return e
		}
		from, e := number(first)
		if e != nil {
			return e
		}
		to, e := number(last)
		if e != nil {
			return e
		}
		l, e := text("link", link)
		if e != nil {
			return e
		}
		room, e := buffer("address", unsafe.Pointer(address), size)
		if e != nil {
			return e
		}
		return m.serve(from, to, l, once != 0, func(at string) error {
			if room == nil {
				return nil
			}
			return put(at, room)
		})
	})
}

//export parley_go_disconnect
func parley_go_disconnect(h C.int64_t, peer C.int32_t, err *C.parley_error) C.int64_t {
	return call(err, func() error {
		p, e := number(peer)
		if e != nil {
			return e
		}
		found, e := find(h)
		if e != nil {
			return e
		}
		if s, ok := found.(*Server); ok {
			return s.Disconnect(p)
		}
		m, e := machine(h)
		if e != nil {
			return e
		}
		return m.Disconnect(p)
	})
}

//export parley_go_step
func parley_go_step(h C.int64_t, peer C.int32_t, command *C.char, err *C.parley_error) C.int64_t {
	return call(err, func() error {
		m, e := machineOf(h, peer)
		if e != nil {
			return e
		}
		c, e := text("command", command)
		if e != nil {
			return e
		}
		return m.Step(c)
	})
}

//export parley_go_deliver
func parley_go_deliver(
	h C.int64_t, peer C.int32_t, frame unsafe.Pointer, size C.size_t, err *C.parley_error,
) C.int64_t {
	return call(err, func() error {
		m, e := machine(h)
		if e != nil {
			return e
		}
		p, e := number(peer)
		if e != nil {
			return e
		}
		b, e := buffer("frame", frame, size)
		if e != nil {
			return e
		}
		if b == nil && size > 0 {
			return errors.New("the frame is NULL")
		}
		return m.Deliver(p, b)
	})
}

//export parley_go_poll
func parley_go_poll(
	h C.int64_t, out *C.parley_event, data *C.char, size C.size_t, milliseconds C.int32_t, err *C.parley_error,
) C.int64_t {
	return call(err, func() error {
		m, e := find(h)
		if e != nil {
			return e
		}
		b, e := buffer("buffer", unsafe.Pointer(data), size)
		if e != nil {
			return e
		}
		if out == nil || len(b) == 0 {
			return errors.New("parley_poll needs an event and a buffer")
		}
		out.kind, out.peer, out.length = C.PARLEY_NONE, -1, 0
		got, e := m.Poll(time.Duration(milliseconds)*time.Millisecond, len(b)-1) // a text ends with a zero
		out.length = C.size_t(len(got.Text) + len(got.Data))
		if e != nil {
			return e
		}
		out.kind, out.peer = C.int32_t(got.Kind), C.int32_t(got.Peer)
		return put(got.Text+string(got.Data), b)
	})
}

//export parley_go_text
func parley_go_text(h C.int64_t, peer C.int32_t, to *C.char, size C.size_t, err *C.parley_error) C.int64_t {
	return call(err, func() error {
		m, e := machineOf(h, peer)
		if e != nil {
			return e
		}
		s, e := m.Text()
		if e != nil {
			return e
		}
		return answer(s, to, size)
	})
}

//export parley_go_field_int
func parley_go_field_int(from, name *C.char, value *C.int64_t) C.int64_t {
	return call(nil, func() error {
		s, f, e := fieldOf(from, name)
		if e != nil {
			return e
		}
		n, e := FieldInt(s, f)
		if value != nil {
			*value = C.int64_t(n)
		}
		return e
	})
}

//export parley_go_field_text
func parley_go_field_text(from, name, value *C.char, size C.size_t) C.int64_t {
	return call(nil, func() error {
		s, f, e := fieldOf(from, name)
		if e != nil {
			return e
		}
		v, e := Field(s, f)
		if e != nil {
			return e
		}
		return answer(v, value, size)
	})
}

func fieldOf(from, name *C.char) (s, f string, err error) {
	if s, err = text("text", from); err != nil {
		return "", "", err
	}
	f, err = text("name of the field", name)
	return s, f, err
}

//export parley_go_close
func parley_go_close(h C.int64_t) C.int64_t {
	return call(nil, func() error {
		handles.Lock()
		m := handles.all[int64(h)]
		delete(handles.all, int64(h))
		handles.Unlock()
		if m == nil {
			return ErrNoHandle
		}
		m.Close()
		return nil
	})
}
