package conform

import (
	"testing"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
)

// FuzzCommand: a command as text is refused with a reason, or is one; then its own text says the
// same again.
func FuzzCommand(f *testing.F) {
	for _, text := range []string{"", "connect", `name{own: true, name: "red"}`,
		"bring{entries: [{slot: 0, ship: orz}, {slot: 13, ship: vacant}]}",
		"ship{own: false, slot: 3, ship: kohrAh}", "agree{delay: 2, seed: 4294967295}", "bring{entries: []}",
		"quit now", "version{minor: 0x8, patch: 0}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := netplay.NewPeerRunner(true)
		before := r.Machine
		if res, err := r.Command(text); err != nil {
			if res.Code != fsm.Refused || r.Machine != before {
				t.Fatalf("%q: %v, yet something has happened", text, err)
			}
			return
		}
		said := string(r.AppendEvent(nil))
		again := netplay.NewPeerRunner(true)
		if _, err := again.Command(said); err != nil || again.Machine != r.Machine {
			t.Fatalf("%q is said as %q, which does not do the same: %v", text, said, err)
		}
	})
}
