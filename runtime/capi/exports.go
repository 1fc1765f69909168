//go:build cgo

package capi

/*
#define PARLEY_NO_PROTOTYPES // cgo makes its own of the exported functions
#include "parley.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/parley-go/parley/runtime/fsm"
)

// handles keeps the machines that callers hold.
var handles = struct {
	sync.Mutex
	next     int64
	machines map[int64]*Machine
}{next: 1, machines: map[int64]*Machine{}}

func find(h C.int64_t) (*Machine, error) {
	handles.Lock()
	defer handles.Unlock()
	if m := handles.machines[int64(h)]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%w: handle %d", ErrNoHandle, int64(h))
}

// put copies a text with its final zero, cut where there is no room; it returns the length of all of it.
func put(text string, to *C.char, size C.size_t) C.int64_t {
	if to != nil && size > 0 {
		b := unsafe.Slice((*byte)(unsafe.Pointer(to)), int(size))
		b[copy(b[:size-1], text)] = 0
	}
	return C.int64_t(len(text))
}

// code turns an error into a number, and its text into err.
func code(e error, err *C.parley_error) C.int64_t {
	if err != nil {
		text := ""
		if e != nil {
			text = e.Error()
		}
		put(text, &err.text[0], C.size_t(len(err.text)))
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
	}
	return C.PARLEY_ERROR
}

// on calls f with the machine of a handle.
func on(h C.int64_t, err *C.parley_error, f func(*Machine) error) C.int64_t {
	m, e := find(h)
	if e == nil {
		e = f(m)
	}
	return code(e, err)
}

//export parley_open
func parley_open(name, params *C.char, err *C.parley_error) C.int64_t {
	m, e := Open(C.GoString(name), C.GoString(params))
	if e != nil {
		return code(e, err)
	}
	code(nil, err)
	handles.Lock()
	defer handles.Unlock()
	h := handles.next
	handles.next++
	handles.machines[h] = m
	return C.int64_t(h)
}

//export parley_connect
func parley_connect(h C.int64_t, peer C.int32_t, link *C.char, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error { return m.Connect(fsm.Peer(peer), C.GoString(link)) })
}

//export parley_listen
func parley_listen(h C.int64_t, peer C.int32_t, link, address *C.char, size C.size_t, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error {
		at, e := m.Listen(fsm.Peer(peer), C.GoString(link))
		if e == nil && put(at, address, size) >= C.int64_t(size) && address != nil {
			return fmt.Errorf("%w: the address %s has %d bytes", ErrShort, at, len(at)+1)
		}
		return e
	})
}

//export parley_disconnect
func parley_disconnect(h C.int64_t, peer C.int32_t, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error { return m.Disconnect(fsm.Peer(peer)) })
}

//export parley_step
func parley_step(h C.int64_t, command *C.char, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error { return m.Step(C.GoString(command)) })
}

//export parley_deliver
func parley_deliver(h C.int64_t, peer C.int32_t, frame unsafe.Pointer, size C.size_t, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error {
		return m.Deliver(fsm.Peer(peer), unsafe.Slice((*byte)(frame), int(size)))
	})
}

//export parley_poll
func parley_poll(h C.int64_t, out *C.parley_event, data *C.char, size C.size_t, milliseconds C.int32_t, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error {
		if out == nil || data == nil || size == 0 {
			return errors.New("parley_poll needs an event and a buffer")
		}
		out.kind = C.PARLEY_NONE
		most := max(int(size)-1, 0) // a text ends with a zero
		e, bad := m.Poll(time.Duration(milliseconds)*time.Millisecond, most)
		out.length = C.size_t(len(e.Text) + len(e.Data))
		if bad != nil {
			return bad
		}
		out.kind, out.peer = C.int32_t(e.Kind), C.int32_t(e.Peer)
		put(e.Text+string(e.Data), data, size)
		return nil
	})
}

//export parley_text
func parley_text(h C.int64_t, text *C.char, size C.size_t, err *C.parley_error) C.int64_t {
	return on(h, err, func(m *Machine) error {
		s, e := m.Text()
		if e == nil && put(s, text, size) >= C.int64_t(size) {
			return fmt.Errorf("%w: the text has %d bytes", ErrShort, len(s)+1)
		}
		return e
	})
}

//export parley_field_int
func parley_field_int(text, name *C.char, value *C.int64_t) C.int64_t {
	n, e := FieldInt(C.GoString(text), C.GoString(name))
	if value != nil {
		*value = C.int64_t(n)
	}
	return code(e, nil)
}

//export parley_field_text
func parley_field_text(text, name, value *C.char, size C.size_t) C.int64_t {
	s, e := Field(C.GoString(text), C.GoString(name))
	if e == nil && put(s, value, size) >= C.int64_t(size) {
		e = ErrShort
	}
	return code(e, nil)
}

//export parley_close
func parley_close(h C.int64_t) C.int64_t {
	m, e := find(h)
	if e != nil {
		return code(e, nil)
	}
	handles.Lock()
	delete(handles.machines, int64(h))
	handles.Unlock()
	m.Close()
	return C.PARLEY_OK
}
