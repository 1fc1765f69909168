package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/examples/remote/scene"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/wire"
)

// near is how close a ship has to come to an extra to take it.
const near = 10

// maxHeard is how many records wait to be shown, while the terminal takes nothing.
const maxHeard = 4096

// session is a player at a server, and what it sees. All but what mu guards belongs to fly's goroutine.
type session struct {
	out    io.Writer
	p      *pilot.Pilot
	scene  scene.Scene
	things *events.PlayerRunner // what lies around, and who has taken it
	begun  time.Time
	flies  bool
	x, y   float64
	turned float64    // degrees; 0 is along the second axis
	speed  float64    // units a second
	named  chan error // what came of the last /name; nil if none is under way
	view   *view      // nil: lines are printed
	until  string     // what has to be shown before more is read
	shots  uint16

	mu     sync.Mutex
	heard  []remote.Record
	missed int
	record *remote.Recorder // may be nil
	broken error            // why the recording ended
}

// hear keeps a record until it is shown, and writes it.
func (g *session) hear(r remote.Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.record != nil {
		if err := g.record.Add(r.Kind, r.At, r.Slot, r.Data); err != nil {
			g.broken, g.record = err, nil
		}
	}
	if len(g.heard) == maxHeard {
		g.missed++
		return
	}
	r.Data = slices.Clone(r.Data)
	g.heard = append(g.heard, r)
}

// errFull is why nothing more can be sent just now.
var errFull = errors.New("too much has happened since the last packet")

const help = "/join [X Y]  /unjoin  /speed N  /turn DEGREES  /fire  /missile SLOT  /drop  /name NAME  /who  /map  " +
	"/quit; anything else is said to all"

// fly plays until the player quits, ctx ends, nothing more is typed or the server is gone.
func (g *session) fly(
	ctx context.Context, o pilot.Options, rate int, lines <-chan string, keys <-chan []byte,
) error {
	o.Heard = g.hear
	join, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	g.begun = time.Now()
	var err error
	if g.p, err = pilot.Dial(join, o); err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		g.p.Close(end)
		g.look()
	}()
	if g.things, err = events.NewPlayerRunner(events.Slot(g.p.Slot())); err != nil {
		return err
	}
	g.look()
	if g.view == nil {
		g.print(help)
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for {
		read := lines
		if g.until != "" {
			read = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-g.p.Done():
			return g.p.Err()
		case line, ok := <-read:
			if !ok || line == "/quit" {
				return g.p.Send() // what was said last is heard
			}
			g.answer(g.command(ctx, line))
		case b := <-keys:
			for _, line := range g.view.press(b, g.glance()) {
				if g.view.quit = g.view.quit || line == "/quit"; !g.view.quit {
					g.answer(g.command(ctx, line))
				}
			}
			if g.view.quit {
				return g.p.Send()
			}
		case err := <-g.named:
			g.named = nil
			g.answer(err)
		case <-tick.C:
			if err := g.step(1 / float64(rate)); err != nil {
				return err
			}
			g.look()
			if g.view != nil {
				if err := g.view.show(g.glance()); err != nil {
					return err
				}
			}
		}
	}
}

// answer says why a command could not be done, if so.
func (g *session) answer(err error) {
	if err != nil {
		g.print("? " + err.Error())
	}
}

// glance is what there is to see now.
func (g *session) glance() *glance {
	return &glance{scene: &g.scene, at: time.Since(g.begun), players: g.p.Players(), flies: g.flies, x: g.x, y: g.y,
		turned: g.turned, speed: g.speed, shots: g.shots}
}

// print shows a line.
func (g *session) print(line string) {
	if g.view != nil {
		g.view.tell(line)
	} else {
		fmt.Fprintln(g.out, line)
	}
	if g.until != "" && strings.Contains(line, g.until) {
		g.until = ""
	}
}

// look shows what has happened.
func (g *session) look() {
	g.mu.Lock()
	heard, missed, broken := g.heard, g.missed, g.broken
	g.heard, g.missed, g.broken = nil, 0, nil
	g.mu.Unlock()
	for _, r := range heard {
		if r.Kind == remote.EventsRecord && r.Slot != g.p.Slot() {
			remote.Each(r.Data, r.Slot, func(_ uint8, raw []byte, _ *events.Message) { g.things.Frame(1, raw) })
		}
		for _, line := range g.scene.Apply(r) {
			g.print(line)
		}
	}
	if missed > 0 {
		g.print(fmt.Sprintf("(%d records came faster than they could be shown)", missed))
	}
	if broken != nil {
		g.print("the recording ends here: " + broken.Error())
	}
}

// step moves the ship, takes what it comes near to, and sends.
func (g *session) step(seconds float64) error {
	if g.flies {
		a := g.turned * math.Pi / 180
		g.x += g.speed * seconds * math.Sin(a)
		g.y += g.speed * seconds * math.Cos(a)
		g.p.Fly(g.ship())
		for _, o := range g.things.Machine.There.Items[:g.things.Machine.There.Len] {
			if p, ok := g.scene.Extra(o); ok && math.Hypot(float64(p.X)-g.x, float64(p.Y)-g.y) < near &&
				remote.Owner(o) != g.p.Slot() {
				g.do(g.things.Collect(o))
			}
		}
	}
	return g.p.Send()
}

// ship is the own one's state: its third axis is where it flies to.
func (g *session) ship() remote.Ship {
	a := g.turned * math.Pi / 180
	sin, cos := float32(math.Sin(a)), float32(math.Cos(a))
	return remote.Ship{Speed: int32(g.speed * 65536), Matrix: [12]float32{
		cos, 0, sin, float32(g.x), -sin, 0, cos, float32(g.y), 0, 1, 0, 0}}
}

// place is where the ship is, as events have it.
func (g *session) place() (m events.Matrix) {
	s := g.ship()
	for i := range m {
		m[i] = wire.MakeF32(s.Matrix[i])
	}
	return m
}

// do sends what the machine wants to be sent.
func (g *session) do(res fsm.Result) error {
	if res.Code != fsm.Took {
		return errors.New("not now")
	}
	for i := range g.things.Effects() {
		if g.things.Effect(i).Kind == fsm.Send && !g.p.Add(g.things.Message(i)) {
			return errFull
		}
	}
	return nil
}

// command does what was typed.
func (g *session) command(ctx context.Context, line string) error {
	if !strings.HasPrefix(line, "/") {
		if line != "" && !g.p.Say(line) {
			return errFull
		}
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	args := strings.Fields(rest)
	var numbers []float64
	for _, a := range args {
		if n, err := strconv.ParseFloat(a, 64); err == nil && math.Abs(n) <= 1e6 {
			numbers = append(numbers, n)
		}
	}
	flying := func(n int) error {
		switch {
		case len(numbers) != n || len(args) != n:
			return fmt.Errorf("%s takes %d numbers, of at most a million", word, n)
		case !g.flies:
			return errors.New("your ship does not fly: /join")
		}
		return nil
	}
	switch word {
	case "/join":
		if len(args) != len(numbers) || len(args) != 0 && len(args) != 2 {
			return errors.New("/join, or /join X Y with two numbers of at most a million")
		}
		if len(numbers) == 2 {
			g.x, g.y = numbers[0], numbers[1]
		}
		g.flies = true
		g.p.Fly(g.ship())
	case "/unjoin":
		g.flies = false
		g.p.Land()
	case "/speed", "/turn":
		if err := flying(1); err != nil {
			return err
		}
		if word == "/speed" {
			g.speed = min(max(numbers[0], 0), 1000)
		} else {
			g.turned = math.Mod(g.turned+numbers[0], 360)
		}
	case "/fire":
		if err := flying(0); err != nil {
			return err
		}
		g.shots++
		return g.add(events.Message{Kind: events.MessageCreateLaser,
			CreateLaser: events.CreateLaserMessage{Place: g.place(), Object: g.shot()}})
	case "/missile":
		if err := flying(1); err != nil {
			return err
		}
		target := uint32(min(max(numbers[0], 0), scene.Slots-1))
		g.shots++
		return g.add(events.Message{Kind: events.MessageCreateMissile, CreateMissile: events.CreateMissileMessage{
			Place: g.place(), Object: g.shot(), Target: events.Object(target << 16)}})
	case "/drop":
		if err := flying(0); err != nil {
			return err
		}
		return g.do(g.things.Drop(g.place(), 0))
	case "/name":
		if g.named != nil {
			return errors.New("the last /name has no answer yet")
		}
		named := make(chan error, 1)
		g.named = named
		go func() { // the ship flies on meanwhile
			wait, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			named <- typed.Answer(g.p.Rename(wait, rest))
		}()
	case "/who":
		for _, p := range g.p.Players() {
			at, ok := g.scene.Where(p.Slot, time.Since(g.begun))
			where := "watches, or is not to be seen"
			if ok {
				where = fmt.Sprintf("at %.0f %.0f", at.X, at.Y)
			}
			g.print(fmt.Sprintf("slot %d  %s  %s", p.Slot, typed.Clean(p.Name), where))
		}
	case "/map":
		g.print(g.scene.Map(scene.Place{X: float32(g.x), Y: float32(g.y)}, time.Since(g.begun)))
	case "/until": // for scripts: nothing more is read until this has been shown
		g.until = rest
	default:
		return errors.New(help)
	}
	return nil
}

// shot is a number for what flies. They are those that extras, which count from 0, do not come to.
func (g *session) shot() events.Object {
	return events.Object(uint32(g.p.Slot())<<16 | 0x8000 | uint32(g.shots&0x7fff))
}

func (g *session) add(m events.Message) error {
	if !g.p.Allowed(m.Kind) || !g.p.Add(&m) {
		return errFull
	}
	return nil
}
