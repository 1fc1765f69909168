// Package a2s asks a game server for its state, and is such a server, with the machines of specs/library/a2s.
// Start from [Ask] and [Serve].
package a2s

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/parley-go/parley/machines/a2s"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// MaxFrame is the largest packet in bytes; a link has to carry it.
const MaxFrame = 16384

// whole is the largest answer in one packet, and piece how many bytes of a larger one are in each.
const whole, piece = 1400, 1248

// Ask asks the server at the other end of a link, which it closes. The answer is INFO, PLAYERS or RULES.
func Ask(ctx context.Context, link transport.Link, query a2s.Query) (*a2s.Message, error) {
	answer, why := new(a2s.Message), error(nil)
	var d *driver.Driver[*a2s.ClientRunner]
	h := &a2s.ClientHandlers{
		Informed: func(r a2s.ClientInformedReport) {
			answer.Kind, answer.Info = a2s.MessageInfo, a2s.InfoMessage(r)
			d.Stop()
		},
		Listed: func(r a2s.ClientListedReport) {
			answer.Kind, answer.Players = a2s.MessagePlayers, a2s.PlayersMessage(r)
			d.Stop()
		},
		Ruled: func(r a2s.ClientRuledReport) {
			answer.Kind, answer.Rules = a2s.MessageRules, a2s.RulesMessage(r)
			d.Stop()
		},
		Joined: func(r a2s.ClientJoinedReport) {
			why = join(&r, answer)
			d.Stop()
		},
		Failed: func() {
			why = errors.New("no answer")
			d.Stop()
		},
	}
	d = driver.New(a2s.NewClientRunner(), driver.Options[*a2s.ClientRunner]{OnReport: h.OnReport})
	if err := d.Attach(0, link); err != nil {
		return nil, err
	}
	if err := d.Post(func(r *a2s.ClientRunner) fsm.Result { return r.Ask(query) }); err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	return answer, why
}

// types has the number of each answer.
var types = [...]byte{a2s.QueryInfo: 'I', a2s.QueryPlayers: 'D', a2s.QueryRules: 'E'}

// join reads an answer that came in pieces.
func join(r *a2s.ClientJoinedReport, to *a2s.Message) error {
	b := []byte{255, 255, 255, 255, types[r.Query]}
	for i := range r.Pieces.Items[:r.Pieces.Len] {
		b = append(b, r.Pieces.Items[i].String()...)
	}
	return a2s.DecodeMessage(b, to)
}

// cut makes pieces of an answer.
func cut(m *a2s.Message) (pieces a2s.Pieces, err error) {
	b, err := a2s.AppendMessage(nil, m)
	if err != nil {
		return pieces, err
	}
	for b = b[5:]; len(b) > 0; pieces.Len++ {
		n := min(len(b), piece)
		if int(pieces.Len) == len(pieces.Items) {
			return pieces, errors.New("the answer has too many pieces")
		}
		pieces.Items[pieces.Len], _ = a2s.NewPiece(string(b[:n]))
		b = b[n:]
	}
	return pieces, nil
}

// State is what a server tells of itself.
type State struct {
	Info    a2s.InfoMessage
	Players a2s.PlayersMessage
	Rules   a2s.RulesMessage
}

// answer returns what gives a machine the answer to a question: as one packet if it is small.
func (s *State) answer(query a2s.Query) (func(*a2s.ServerRunner) fsm.Result, error) {
	m := &a2s.Message{Info: s.Info, Players: s.Players, Rules: s.Rules}
	m.Kind = [...]a2s.MessageKind{a2s.MessageInfo, a2s.MessagePlayers, a2s.MessageRules}[query]
	b, err := a2s.AppendMessage(nil, m)
	switch {
	case err != nil:
		return nil, err
	case len(b) > whole:
		pieces, err := cut(m)
		ident := a2s.Ident(rand.Uint32N(1 << 31))
		return func(r *a2s.ServerRunner) fsm.Result {
			ident = (ident + 1) % (1 << 31) // the machines have one goroutine
			return r.Cut(query, ident, piece, pieces)
		}, err
	case query == a2s.QueryInfo:
		return func(r *a2s.ServerRunner) fsm.Result { return r.Inform(s.Info.Info, s.Info.Television) }, nil
	case query == a2s.QueryPlayers:
		return func(r *a2s.ServerRunner) fsm.Result { return r.List(s.Players.Players) }, nil
	}
	return func(r *a2s.ServerRunner) fsm.Result { return r.Rule(s.Rules.Rules) }, nil
}

// Serve answers everybody who asks at the link and shows that they hear at their address, until ctx ends. It
// has one machine for each address.
func Serve(ctx context.Context, link transport.Link, s State) error {
	var answers [len(types)]func(*a2s.ServerRunner) fsm.Result
	for query := range answers {
		var err error
		if answers[query], err = s.answer(a2s.Query(query)); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", a2s.Query(query), err), link.Close())
		}
	}
	var host *driver.Host[*a2s.ServerRunner, a2s.Server]
	h := &a2s.ServerHandlers{
		Wanted: func(r a2s.ServerWantedReport) { host.Post(host.Peer(), answers[r.Query]) },
	}
	first, err := a2s.NewServerRunner(0)
	if err != nil {
		return errors.Join(err, link.Close())
	}
	fresh := func(int) a2s.Server {
		m, _ := a2s.NewServer(a2s.Challenge(rand.Uint32N(1<<32 - 1))) // any such number will do
		return m
	}
	host, err = driver.NewHost(first, func(r *a2s.ServerRunner) *a2s.Server { return &r.Machine }, fresh, link,
		driver.Options[*a2s.ServerRunner]{OnReport: h.OnReport})
	if err != nil {
		return err
	}
	return host.Run(ctx)
}
