package wire

// Shape describes what the link, not the machine, fills into the frames of a protocol. A Number
// with Bits 0 is absent.
type Shape struct {
	Type, Sequence Number
	// Checksum is computed by [Checksum], when all else is filled in.
	Checksum Number
	// Addresses has those of each message, by its type number.
	Addresses map[uint64][]Address
	// Constants are those of the specification that stand at one place in every message.
	Constants []Constant
}

// Constant is a named constant of a specification in a frame. A link may put another value there, so
// that only those hear each other whose links have the same.
type Constant struct {
	Name   string
	Number Number
	Value  uint64 // that of the specification, which machines write and want
}

// Constant returns the constant of a name.
func (s *Shape) Constant(name string) (c Constant, ok bool) {
	for _, c := range s.Constants {
		if c.Name == name {
			return c, true
		}
	}
	return c, false
}

// Number is an unsigned number of 8, 16, 24, 32 or 64 bits at a fixed place of a frame.
type Number struct {
	At, Bits int
	Little   bool
}

// Address is the place of an instance's address in a frame: Size bytes. In the frame of a machine
// the first of them has the instance's number plus 1, or 0 for none, and the others are zeros. If
// there is a number If, the address is meaningful only if that number is greater than More.
type Address struct {
	At, Size int
	If       Number
	More     uint64
}

// Get returns the number in a frame, or 0 if the frame ends before it.
func (n Number) Get(frame []byte) uint64 {
	v, size := uint64(0), n.Bits/8
	if n.At+size > len(frame) {
		return 0
	}
	for i := range size {
		k := n.At + i
		if n.Little {
			k = n.At + size - 1 - i
		}
		v = v<<8 | uint64(frame[k])
	}
	return v
}

// Put writes the number into a frame that is long enough.
func (n Number) Put(frame []byte, v uint64) {
	size := n.Bits / 8
	for i := range size {
		k := n.At + size - 1 - i
		if n.Little {
			k = n.At + i
		}
		frame[k] = byte(v >> (8 * i))
	}
}

// Has reports whether the address is meaningful in a frame.
func (a Address) Has(frame []byte) bool {
	return a.At+a.Size <= len(frame) && (a.If.Bits == 0 || a.If.Get(frame) > a.More)
}
