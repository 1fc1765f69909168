// Command client is Skirmish in a browser: the same machines and the same game, over a WebSocket to the gateway.
package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall/js"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/pipe"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/runtime/transport"
)

func main() {
	window := js.Global()
	place := window.Get("location")
	address := strings.Replace(place.Get("origin").String(), "http", "ws", 1) + "/play"
	query := js.Global().Get("URLSearchParams").New(place.Get("search"))
	name := "Browser"
	if n := query.Call("get", "name"); n.Type() == js.TypeString {
		name = n.String()[:min(16, len(n.String()))]
	}
	ctx := context.Background()
	dial := func(ctx context.Context, door uint16) (transport.Link, error) {
		c, _, err := websocket.Dial(ctx, address, nil)
		if err != nil {
			return nil, err
		}
		c.SetReadLimit(1 << 20)
		l := pipe.Link(websocket.NetConn(context.Background(), c, websocket.MessageBinary))
		if err = l.Send(0, []byte{byte(door)}); err == nil {
			err = l.Flush()
		}
		return l, err
	}
	o := session.NewOnline(ctx, "in the browser", true, query.Call("has", "now").Bool(),
		match.PlayerConfig{Name: name, Dial: dial})
	keyboard(ctx, window, o)
	show(window, o)
	<-o.Over()
	window.Get("document").Call("getElementById", "say").Set("textContent",
		"It is over: "+o.Err().Error()+". Load the page again.")
}

// held are the keys that are down: a browser tells of both ways of a key.
var held atomic.Uint32

// buttons are what keys do in a match, by their codes.
var buttons = map[string]uint32{
	"ArrowUp": 1 << game.Up, "KeyW": 1 << game.Up, "ArrowRight": 1 << game.Right, "KeyD": 1 << game.Right,
	"ArrowDown": 1 << game.Down, "KeyS": 1 << game.Down, "ArrowLeft": 1 << game.Left, "KeyA": 1 << game.Left,
	"Space": 1 << 8, "KeyM": 1 << 9, "KeyE": 1 << 9,
	"Digit6": 1 << 10, "Digit7": 1 << 11, "Digit8": 1 << 12, "Digit9": 1 << 13,
}

// input is what the keys that are down do.
func input() (in game.Input) {
	h := held.Load()
	for d := game.Up; d <= game.Left; d++ {
		if h&(1<<d) != 0 {
			in = game.Input(d)
		}
	}
	if h&(1<<8) != 0 {
		in |= game.Fire
	}
	if h&(1<<9) != 0 {
		in |= game.Mine
	}
	for n := range game.Sign(4) {
		if h&(1<<(10+n)) != 0 {
			in |= (n + 1).Showing()
			break
		}
	}
	return in
}

// line is what the player is about to say.
var line terminal.Line

// talk takes a key while a line is typed.
func talk(ctx context.Context, key string, o *session.Online) {
	switch key {
	case "Enter":
		key = "\r"
	case "Escape":
		key = "\x1b"
	case "Backspace":
		key = "\x7f"
	}
	if utf8.RuneCountInString(key) == 1 {
		for _, c := range []byte(key) {
			line.Type(c)
		}
	}
	o.Draft(line.Text(), line.Open)
	if said := line.Said; said != "" {
		line.Said = ""
		go o.Say(ctx, said)
	}
}

func keyboard(ctx context.Context, window js.Value, o *session.Online) {
	on := func(event string, f func(code, key string)) {
		window.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
			if code := args[0].Get("code").String(); line.Open || buttons[code] != 0 || code == "Enter" {
				args[0].Call("preventDefault")
			}
			f(args[0].Get("code").String(), args[0].Get("key").String())
			return nil
		}))
	}
	on("keydown", func(code, key string) {
		switch {
		case line.Open:
			talk(ctx, key, o)
			return
		case key == "t":
			line.Open = true
			o.Draft("", true)
			return
		}
		held.Or(buttons[code])
		if key == "Enter" {
			key = "\r"
		}
		if len(key) == 1 {
			go o.Type(ctx, key[0])
		}
	})
	on("keyup", func(code, _ string) { held.And(^buttons[code]) })
}

// show draws what there is to see, as often as the browser does.
func show(window js.Value, o *session.Online) {
	canvas := window.Get("document").Call("getElementById", "screen")
	const width, height = screen.Columns * screen.CellWidth, screen.Rows * screen.CellHeight
	canvas.Set("width", width)
	canvas.Set("height", height)
	pen := canvas.Call("getContext", "2d")
	bytes := window.Get("Uint8ClampedArray").New(width * height * 4)
	picture := window.Get("ImageData").New(bytes, width, height)
	painting := new(screen.Painting)
	said := ""
	var draw js.Func
	draw = js.FuncOf(func(js.Value, []js.Value) any {
		painting.Paint(o.Frame(input()))
		js.CopyBytesToJS(bytes, painting.Pix[:])
		pen.Call("putImageData", picture, 0, 0)
		said = tell(canvas, o, said)
		window.Call("requestAnimationFrame", draw)
		return nil
	})
	window.Call("requestAnimationFrame", draw)
}

// tell says in words where the player is, for those who do not see the canvas.
func tell(canvas js.Value, o *session.Online, last string) string {
	now := "calling the host"
	switch v := o.View(); {
	case v.Phase == match.Waiting:
		now = "a match is on, and you play in the next one"
	case v.Phase == match.Lobby && v.Played != 0:
		now = "the lobby after a match"
	case v.Phase == match.Lobby:
		now = "the lobby"
	case v.Phase == match.Playing && v.State != nil && v.State.Phase == game.Over:
		now = "the match is over"
	case v.Phase == match.Playing && v.State != nil && v.Slot >= 0:
		now = fmt.Sprintf("the arena: round %d of %d, you have %d points", v.State.Round+1, v.State.Rounds,
			v.State.Tanks[v.Slot].Score)
	}
	if now != last {
		canvas.Call("setAttribute", "aria-label", now)
	}
	return now
}
