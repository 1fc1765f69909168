package driver

// lead is the one of several links from which the owner itself receives, since it brings nearly all that comes: no
// other goroutine comes between the socket and the machine then, and what has come together is handled together. What
// the others bring interrupts it, which costs a little more than to wait for all alike.
type lead struct {
	slot   *slot // nil: there is none
	others int   // how much others have brought since slot has brought something
	last   *slot // what brought something last, if none leads
	row    int   // how often in a row
}

// A link leads that has brought so much in a row, until the others have.
const (
	toLead   = 16
	toFollow = 64
)

// alone has a link lead that is the only one: it goes on when another one comes.
func (l *lead) alone(s *slot) {
	if l.slot != s && s.polled != nil {
		*l = lead{slot: s}
	}
}

// brought notes that the link that leads has brought something.
func (l *lead) brought() { l.others = 0 }

// follow notes that a link with a goroutine of its own has brought something. It reports whether that link leads from
// now on: then its goroutine has to end.
func (l *lead) follow(s *slot) bool {
	if l.slot != nil {
		if l.others++; l.others >= toFollow {
			*l = lead{}
		}
		return false
	}
	if l.last != s {
		l.last, l.row = s, 0
	}
	if l.row++; l.row < toLead || s.polled == nil || !s.open {
		return false
	}
	*l = lead{slot: s}
	return true
}

// tidy forgets a link that is closed.
func (l *lead) tidy() {
	if l.slot != nil && !l.slot.open || l.last != nil && !l.last.open {
		*l = lead{}
	}
}
