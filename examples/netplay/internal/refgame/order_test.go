package refgame

import "testing"

// The frame that ends a battle and the READY of the barrier behind it may be handled in one go,
// before the main loop runs again. That READY is the barrier's, not another way to say the last
// frame.
func TestReadyBehindTheLastFrame(t *testing.T) {
	ready := []byte{0, 4, 0, tReady}
	for name, last := range map[string][]byte{"FRAMECOUNT": {0, 8, 0, tFrameCount, 0, 0, 0, 26},
		"READY for it": ready} {
		g := &game{state: "endingBattle", frame: 24, endFrame: 25}
		for _, f := range [][]byte{last, ready} {
			if err := g.handle(f); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !g.ready[1] {
			t.Errorf("%s: the READY of the barrier is lost, and both sides wait for ever", name)
		}
		if err := g.handle(ready); err == nil {
			t.Errorf("%s: a third READY is taken", name)
		}
	}
}
