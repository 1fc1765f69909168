package wire

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// resolver resolves the section `wire` and the layout of each message.
type resolver struct {
	*types.Table
	bad map[*model.Message]bool // those whose items have errors
}

// codeRange returns the least and the greatest number that a value of t has on the wire.
func codeRange(t *model.Type) (lo, hi int64) {
	switch t.Kind {
	case model.KindBool:
		return 0, 1
	case model.KindEnum:
		lo, hi = t.Codes[0], t.Codes[0]
		for _, c := range t.Codes {
			lo, hi = min(lo, c), max(hi, c)
		}
		return lo, hi
	case model.KindOpaque:
		if t.Bits == 64 {
			return 0, 1<<63 - 1
		}
		return 0, 1<<t.Bits - 1
	case model.KindSet: // bit i is set if value number i is in the set
		return 0, 1<<t.Elem.Count() - 1
	}
	return t.Lo, t.Hi
}

// hasAddress reports whether items have an address, which links fill in.
func hasAddress(items []model.WireItem) bool {
	for _, it := range items {
		switch it := it.(type) {
		case *model.WireAddress:
			return true
		case *model.WireEach:
			if hasAddress(it.Items) {
				return true
			}
		}
	}
	return false
}
