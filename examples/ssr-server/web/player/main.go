//go:build js && wasm

// Command player is the page's player: the generated machine of the protocol ssr, as WebAssembly, over a WebSocket.
package main

import (
	"context"
	"strings"
	"syscall/js"
	"time"

	"github.com/coder/websocket"

	"github.com/parley-go/parley/examples/internal/pipe"
	"github.com/parley-go/parley/examples/ssr-server/internal/player"
	"github.com/parley-go/parley/runtime/transport/mem"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	document := js.Global().Get("document")
	element := func(id string) js.Value { return document.Call("getElementById", id) }
	log := element("log")
	show := func(k player.Kind, line string) {
		if k == player.Time {
			element("clock").Set("textContent", line)
			return
		}
		row := document.Call("createElement", "div")
		row.Set("className", string(k))
		row.Set("textContent", line) // text, whatever it looks like
		log.Call("appendChild", row)
		for log.Get("childElementCount").Int() > 500 {
			log.Get("firstElementChild").Call("remove")
		}
		log.Set("scrollTop", log.Get("scrollHeight"))
	}
	location := js.Global().Get("location")
	url := strings.Replace(location.Get("origin").String(), "http", "ws", 1) + "/play"
	ws, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		show(player.News, "no connection: "+err.Error())
		return
	}
	near, far := mem.Pair(mem.Config{Stream: true})
	go pipe.Join(pipe.Conn(websocket.NetConn(ctx, ws, websocket.MessageBinary)), pipe.Link(far), 0)
	p := player.New(show)
	typed := make(chan string, 16) // a handler of the page must not wait
	element("form").Call("addEventListener", "submit", js.FuncOf(func(_ js.Value, args []js.Value) any {
		args[0].Call("preventDefault")
		line := element("line")
		select {
		case typed <- line.Get("value").String():
			line.Set("value", "")
		default:
		}
		return nil
	}))
	go func() {
		clock := time.NewTicker(time.Second)
		defer clock.Stop()
		for {
			select {
			case l := <-typed:
				if err := p.Type(ctx, l); err != nil {
					show(player.News, err.Error())
				}
			case <-clock.C:
				if p.Type(ctx, "/time") != nil {
					element("clock").Set("textContent", "the clock runs in games")
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	if err := p.Run(ctx, near); err != nil {
		show(player.News, err.Error())
	}
}
