package ast

import "github.com/parley-go/parley/gen/diag"

// Kind is the kind of a node.
type Kind uint8

const (
	Scalar Kind = iota
	Map
	List
)

// String returns the words used in messages.
func (k Kind) String() string { return [...]string{"a single value", "a map", "a list"}[k] }

// Style is how a scalar is written.
type Style uint8

const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal // |
	Folded  // >
)

// Node is a map, a list or a scalar of a file. It is not changed after parsing.
type Node struct {
	Kind       Kind
	Src        *Source
	Start, End int // byte offsets in Src.Text
	Style      Style
	Flow       bool // Map, List: written with brackets (or a pair inside a list's)
	Text       string
	// Places has the offset in Src.Text of each byte of Text, and of its end; nil
	// if they follow one another from Start.
	Places  []int32
	Entries []Entry
	Items   []*Node
}

// Entry is one line of a map.
type Entry struct{ Key, Value *Node }

// Span returns the place of the whole node.
func (n *Node) Span() diag.Span { return n.Src.Span(n.Start, n.End) }

// Offset returns where byte i of a scalar's text stands in its file.
func (n *Node) Offset(i int) int {
	if n.Places == nil {
		return n.Start + i
	}
	return int(n.Places[max(0, min(i, len(n.Places)-1))])
}

// Part returns the place of the bytes i up to j of a scalar's text.
func (n *Node) Part(i, j int) diag.Span {
	from, to := n.Offset(i), n.Offset(j)
	if j > i {
		// The byte behind may stand on another line; the part ends with its last byte.
		to = n.Offset(j-1) + 1
		for to < n.End && n.Src.Text[to]&0xC0 == 0x80 {
			to++
		}
	}
	return n.Src.Span(from, to)
}

// Get returns the value of a key of a map, or nil. It may be called on nil.
func (n *Node) Get(key string) *Node {
	if e := n.Entry(key); e != nil {
		return e.Value
	}
	return nil
}

// Entry returns the entry of a key of a map, or nil. It may be called on nil.
func (n *Node) Entry(key string) *Entry {
	if n == nil {
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key.Text == key {
			return &n.Entries[i]
		}
	}
	return nil
}

// IsNull reports whether n is an empty value: nothing, `null` or `~`.
func (n *Node) IsNull() bool {
	return n != nil && n.Kind == Scalar && n.Style == Plain && (n.Text == "" || n.Text == "null" || n.Text == "~")
}

// Removes reports whether n is a `null` written out, which in an extending
// file removes what it extends.
func (n *Node) Removes() bool { return n.IsNull() && n.Text != "" }

// Keys returns the keys of a map in the order written.
func (n *Node) Keys() []string {
	if n == nil {
		return nil
	}
	keys := make([]string, len(n.Entries))
	for i, e := range n.Entries {
		keys[i] = e.Key.Text
	}
	return keys
}
