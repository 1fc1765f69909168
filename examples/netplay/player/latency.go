package player

import (
	"time"

	"github.com/parley-go/parley/machines/netplay"
)

// gameFPS is how many frames the game plays in a second.
const gameFPS = 24

// maxAdapted is the largest delay that is asked for because of the way to the other side: half a second.
// A reply that takes longer was held up by a player who was looking at a message.
const maxAdapted = 12

// samples is how many replies are waited for, and patienceForReply how long for each.
const (
	samples          = 3
	patienceForReply = 2 * time.Second
)

// way is what is known of the way to the other side and back.
type way struct {
	asked   time.Time // when the reply that is awaited was asked for; zero: none is
	replies int       // that have come, or are not waited for any more
	trip    time.Duration
}

// dueReply asks for replies until there are enough of them; wait says that one is awaited.
func (b *brain) dueReply() (c *command, wait bool) {
	w := &b.way
	switch {
	case !b.cfg.Adapt || w.replies >= samples:
		return nil, false
	case w.asked.IsZero():
		c = b.ping()
		asked := c.done
		c.done = func() {
			asked()
			w.asked = time.Now()
		}
		return c, true
	case b.since(w.asked, patienceForReply):
		w.replies = samples // whoever says nothing is not asked again
		return nil, false
	}
	return nil, true
}

// replied notes a reply. The shortest way counts: the game looks at what has come once in a while only.
func (w *way) replied(now time.Time) {
	if w.asked.IsZero() || w.replies >= samples {
		return
	}
	if took := now.Sub(w.asked); w.replies == 0 || took < w.trip {
		w.trip = took
	}
	w.replies++
	w.asked = time.Time{}
}

// delay is the delay that this side asks for: that of its settings, or as many frames more as keep the
// way to the other side from slowing the frames down. An input of frame n acts in frame n+delay, so its
// way may take that many frames. A checksum that is the other side's own comes a whole round trip
// after it, and has to be there in the same frame: the input cannot go ahead of it.
func (b *brain) delay() netplay.Delay {
	d := b.cfg.Delay
	if b.cfg.Adapt && b.way.trip > 0 {
		trip := b.way.trip
		if b.battle.mode == Own {
			trip /= 2
		}
		fps := gameFPS
		if b.cfg.FPS > 0 {
			fps = b.cfg.FPS
		}
		frame := time.Second / time.Duration(fps)
		d = max(d, min(maxAdapted, int((trip+frame-1)/frame)+1))
	}
	return netplay.Delay(d)
}
