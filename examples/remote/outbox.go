package remote

import "github.com/parley-go/parley/machines/events"

// maxWaiting is how many events an outbox holds.
const maxWaiting = 256

// Outbox has the events that happened since the last packet, in the order in which they did. The zero value is empty.
type Outbox struct {
	waiting []events.Message
	bytes   int
	refused int // events that found no room
}

// Allowed reports whether there is room for one more event of this kind in the next packet. A game asks before it
// fires; texts, names and ends of objects may always be tried.
func (o *Outbox) Allowed(kind events.MessageKind) bool {
	return len(o.waiting) < maxWaiting && o.bytes+size[kind] <= MaxList
}

// size is that of an event, the largest if it varies.
var size = func() (s [len(rules)]int) {
	for kind := range s {
		m := events.Message{Kind: events.MessageKind(kind)}
		if m.Kind == events.MessageParticleObject {
			m.ParticleObject.Particle = events.ParticleEnergyField
		}
		if m.Kind == events.MessagePlayerName {
			m.PlayerName.Name = Name("")
		}
		b, err := events.AppendMessage(nil, &m)
		if err != nil {
			panic(err)
		}
		s[kind] = len(b)
	}
	s[events.MessageSendText] = 255
	return s
}()

// Add keeps an event for the next packet, and reports whether there was room.
func (o *Outbox) Add(m *events.Message) bool {
	b, err := events.AppendMessage(nil, m)
	if err != nil || len(o.waiting) == maxWaiting || o.bytes+len(b) > MaxList {
		o.refused++
		return false
	}
	o.waiting, o.bytes = append(o.waiting, *m), o.bytes+len(b)
	return true
}

// Len is how many events wait.
func (o *Outbox) Len() int { return len(o.waiting) }

// Refused is how many events found no room since the beginning.
func (o *Outbox) Refused() int { return o.refused }

// Flush appends what waits to dst, at most budget bytes of it, and forgets all of it, as a list is sent once. What
// is left out is told as the number of events. Lasers and missiles get the place where they are now: at returns it,
// and false if the object is gone, whose event is then left out without being counted. at may be nil.
func (o *Outbox) Flush(dst []byte, budget int, at func(events.Object) (events.Matrix, bool)) (list []byte, left int) {
	begin := len(dst)
	for i := range o.waiting {
		m := &o.waiting[i]
		if place, object, flies := flying(m); flies && at != nil {
			now, there := at(object)
			if !there {
				continue
			}
			*place = now
		}
		b, err := events.AppendMessage(dst, m)
		if err != nil || len(b)-begin > budget {
			left++
			continue
		}
		dst = b
	}
	o.waiting, o.bytes = o.waiting[:0], 0
	return dst, left
}

// flying returns the place of what moves by itself.
func flying(m *events.Message) (*events.Matrix, events.Object, bool) {
	switch m.Kind {
	case events.MessageCreateLaser:
		return &m.CreateLaser.Place, m.CreateLaser.Object, true
	case events.MessageCreateMissile:
		return &m.CreateMissile.Place, m.CreateMissile.Object, true
	}
	return nil, 0, false
}

// Text returns the event that a player says something; what is too long is cut.
func Text(who, what string) events.Message {
	s := who + " " + what
	if len(s) > 251 {
		s = s[:251]
	}
	t, _ := events.NewText(s)
	return events.Message{Kind: events.MessageSendText, SendText: events.SendTextMessage{Text: t}}
}

// Name returns a name as the event PLAYER_NAME has it; what is too long is cut.
func Name(s string) events.Name {
	var b [32]byte
	copy(b[:31], s)
	n, _ := events.NewName(string(b[:]))
	return n
}
