package interp

import (
	"maps"
	"slices"
)

// Strings gives equal texts equal handles, so that a text fits a slot. Handle
// 0 is the empty text. A table only grows; one run or one check has one table.
// The zero value is ready. It is not safe for concurrent use.
type Strings struct {
	ids  map[string]int64
	list []string
}

// Intern returns the handle of s. The table keeps a copy of its own.
func (t *Strings) Intern(s []byte) int64 {
	if len(s) == 0 {
		return 0
	}
	if h, ok := t.ids[string(s)]; ok {
		return h
	}
	if t.ids == nil {
		t.ids = map[string]int64{}
	}
	own := string(s)
	t.list = append(t.list, own)
	h := int64(len(t.list))
	t.ids[own] = h
	return h
}

// Get returns the text of a handle, the empty text for one that Intern never gave.
func (t *Strings) Get(h int64) string {
	if t == nil || h <= 0 || h > int64(len(t.list)) {
		return ""
	}
	return t.list[h-1]
}

// Clone returns a table of its own with the same handles.
func (t *Strings) Clone() *Strings {
	return &Strings{ids: maps.Clone(t.ids), list: slices.Clone(t.list)}
}

// Len returns the number of texts, the empty one included.
func (t *Strings) Len() int { return len(t.list) + 1 }
