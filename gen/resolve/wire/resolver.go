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
