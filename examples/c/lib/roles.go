package main

import (
	"fmt"

	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/machines/clock"
	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/machines/gne"
	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/machines/negotiation"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/machines/reset"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/machines/slotserver"
	"github.com/parley-go/parley/machines/snapshot"
	"github.com/parley-go/parley/machines/ssr"
	"github.com/parley-go/parley/machines/stream"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/runtime/capi"
	"github.com/parley-go/parley/runtime/fsm"
)

// The roles of the other shipped protocols. A library of one's own has those it needs: each of them
// makes it larger.
func init() {
	simple("battleend.peer", battleend.NewPeerRunner)
	simple("clock.client", clock.NewClientRunner)
	simple("clock.server", clock.NewServerRunner)
	simple("confirm.peer", confirm.NewPeerRunner)
	simple("connection.client", connection.NewClientRunner)
	simple("gameserver.client", gameserver.NewClientRunner)
	simple("gne.client", gne.NewClientRunner)
	simple("lobby.player", lobby.NewPlayerRunner)
	simple("masterserver.gameserver", masterserver.NewGameserverRunner)
	simple("masterserver.master", masterserver.NewMasterRunner)
	simple("negotiation.client", negotiation.NewClientRunner)
	simple("negotiation.server", negotiation.NewServerRunner)
	simple("registration.file", registration.NewFileRunner)
	simple("registration.script", registration.NewScriptRunner)
	simple("reset.peer", reset.NewPeerRunner)
	simple("skirmish.player", skirmish.NewPlayerRunner)
	simple("slotserver.client", slotserver.NewClientRunner)
	simple("snapshot.client", snapshot.NewClientRunner)
	simple("snapshot.server", snapshot.NewServerRunner)
	simple("ssr.player", ssr.NewPlayerRunner)
	capi.Register("connection.server", func(p *capi.Params) (fsm.Commander, error) {
		return connection.NewServerRunner(settings(p))
	})
	capi.Register("gne.server", func(p *capi.Params) (fsm.Commander, error) {
		own := settings(p)
		return gne.NewServerRunner(gne.Settings{
			Version: gne.Version(own.Version), Game: word(p, "game", 31, gne.NewGame),
			Edition: gne.Edition(own.Edition),
			Wish:    gne.Rate(own.Wish), Takes: gne.Rate(own.Takes),
			Port: gne.Optional[gne.Port]{Present: own.Port.Present, Value: gne.Port(own.Port.Value)}})
	})
	capi.Register("lobby.server", func(p *capi.Params) (fsm.Commander, error) {
		return lobby.NewServerRunner(self(p))
	})
	capi.Register("ssr.server", func(p *capi.Params) (fsm.Commander, error) {
		return ssr.NewServerRunner(self(p))
	})
	capi.Register("lockstep.client", func(p *capi.Params) (fsm.Commander, error) {
		slot := p.Int("wish", -1, 7) // -1 watches
		return lockstep.NewClientRunner(lockstep.Optional[lockstep.Slot]{
			Present: slot >= 0, Value: lockstep.Slot(max(slot, 0))})
	})
	capi.Register("lockstep.server", func(p *capi.Params) (fsm.Commander, error) {
		return lockstep.NewServerRunner(uint16(p.Int("patience", 1, 300)), uint16(p.Int("grace", 1, 600)), self(p))
	})
	capi.Register("netplay.peer", func(p *capi.Params) (fsm.Commander, error) {
		return netplay.NewPeerRunner(p.Bool("server")), nil
	})
	capi.Register("registration.client", func(p *capi.Params) (fsm.Commander, error) {
		return registration.NewClientRunner(word(p, "page", 127, registration.NewUrl))
	})
	capi.Register("registration.server", func(p *capi.Params) (fsm.Commander, error) {
		return registration.NewServerRunner(
			word(p, "page", 127, registration.NewUrl), word(p, "version", 15, registration.NewVersion),
			word(p, "name", 31, registration.NewName), registration.Port(p.Int("port", 0, 65535)),
			word(p, "region", 31, registration.NewRegion))
	})
	capi.Register("update.peer", func(p *capi.Params) (fsm.Commander, error) {
		return update.NewPeerRunner(p.Bool("wins")), nil
	})
	capi.Register("slotserver.server", func(p *capi.Params) (fsm.Commander, error) {
		return slotserver.NewServerRunner(word(p, "called", 31, slotserver.NewName),
			slotserver.LineList{Len: 4, Items: greeting(p, slotserver.NewLine)})
	})
	capi.Register("gameserver.server", func(p *capi.Params) (fsm.Commander, error) {
		return gameserver.NewServerRunner(word(p, "called", 31, gameserver.NewName),
			gameserver.LineList{Len: 4, Items: greeting(p, gameserver.NewLine)})
	})
	capi.Register("events.player", func(p *capi.Params) (fsm.Commander, error) {
		return events.NewPlayerRunner(events.Slot(p.Int("slot", 0, 15)))
	})
	capi.Register("skirmish.host", func(p *capi.Params) (fsm.Commander, error) {
		return skirmish.NewHostRunner(skirmish.Version(p.Int("version", 0, 255)),
			skirmish.Place(p.Int("place", 0, 65535)), self(p))
	})
	capi.Register("stream.end", func(p *capi.Params) (fsm.Commander, error) {
		return stream.NewEndRunner(stream.Token(p.Int("token", 0, 1<<62))), nil
	})
}

// greeting is the four lines with which a server of slots welcomes.
func greeting[L any](p *capi.Params, f func(string) (L, bool)) (lines [4]L) {
	for i := range lines {
		lines[i] = word(p, fmt.Sprint("line", i+1), 500, f)
	}
	return lines
}

// simple registers a role without parameters.
func simple[R fsm.Commander](name string, f func() R) {
	capi.Register(name, func(*capi.Params) (fsm.Commander, error) { return f(), nil })
}

// self is the number of the machine itself among the parties, 0 unless it is given.
func self(p *capi.Params) fsm.Peer {
	if !p.Has("self") {
		return 0
	}
	return fsm.Peer(p.Int("self", 0, fsm.DefaultParties-1))
}

// word takes a text that the protocol restricts.
func word[T any](p *capi.Params, name string, most int, f func(string) (T, bool)) T {
	s := p.Text(name, most)
	v, ok := f(s)
	if !ok {
		p.Wrong(name, fmt.Sprintf("%q", s), "a text that the protocol allows there")
	}
	return v
}

func settings(p *capi.Params) connection.Settings {
	number := func(name string) int64 { return p.Int(name, 0, 1<<32-1) }
	s := connection.Settings{
		Version: connection.Version(number("version")), Game: word(p, "game", 31, connection.NewGame),
		Edition: connection.Edition(number("edition")),
		Wish:    connection.Rate(number("wish")), Takes: connection.Rate(number("takes"))}
	if p.Has("port") {
		s.Port = connection.Optional[connection.Port]{Present: true, Value: connection.Port(p.Int("port", 0, 65535))}
	}
	return s
}
