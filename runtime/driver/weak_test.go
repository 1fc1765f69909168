package driver

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// TestWeakLinkAdvice: what a link that promises too little is told to be checked for is a line of a specification.
func TestWeakLinkAdvice(t *testing.T) {
	weak := transport.Properties{Duplicating: true}
	one := &fsm.Info{Ordered: true, Reliable: true}
	two := &fsm.Info{Channels: []fsm.Channel{{Name: "events", Ordered: true}, {Name: "places"}}}
	for _, tt := range []struct {
		info *fsm.Info
		want string
	}{
		{one, "`channel: {order: any, lossy: true, duplicates: true}`"},
		{two, "`channels: {places: {order: any, lossy: true, duplicates: true}}`"},
	} {
		err := suits(tt.info, 0, len(tt.info.Channels)/2, weak)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, not %s", err, tt.want)
		}
	}
}
