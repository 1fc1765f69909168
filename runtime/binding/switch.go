package binding

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// SwitchError says why a switch failed, and what is bound now.
type SwitchError struct {
	// From was bound before, To was wanted.
	From, To Pair
	// Step is "check" (nothing has changed), "kill", "open" or "init".
	Step string
	// Bound is what is bound now: From, if its system was left alone or could
	// be initialised again, or nothing.
	Bound Pair
	// Cause is one of the package's errors, or that of a function of the program.
	Cause error
}

func (e *SwitchError) Error() string {
	text := fmt.Sprintf("cannot switch from %v to %v: %v", e.From, e.To, e.Cause)
	if e.Step != "check" {
		text = fmt.Sprintf("cannot switch from %v to %v: %s: %v; bound now: %v", e.From, e.To, e.Step, e.Cause, e.Bound)
	}
	return text
}

func (e *SwitchError) Unwrap() error { return e.Cause }

// Switch binds another pair: it kills the bound system, if there is one, opens
// the carrier of to and initialises its protocol. An empty name in to keeps
// what is bound on that axis; what is bound already is left alone. Refused, with
// nothing changed, are unknown names, a transport that is for peer-to-peer
// protocols only, a connected system, and a switch during another. If the new system cannot be had, the
// former pair is initialised again, and the error reports whether it could be. All errors are
// *SwitchError.
func (b *Binding[S, C]) Switch(ctx context.Context, to Pair) error {
	from, to, err := b.begin(ctx, to)
	if err != nil {
		return &SwitchError{from, to, "check", from, err}
	}
	if from == to {
		return nil
	}
	defer b.end()
	if err := b.kill(ctx); err != nil {
		return &SwitchError{from, to, "kill", Pair{}, err}
	}
	step, err := b.initialise(ctx, to)
	if err == nil {
		return nil
	}
	failed := &SwitchError{From: from, To: to, Step: step, Cause: err}
	if from == (Pair{}) {
		return failed
	}
	if _, again := b.initialise(ctx, from); again != nil {
		failed.Cause = errors.Join(err, fmt.Errorf("and %v did not come back: %w", from, again))
	} else {
		failed.Bound = from
	}
	return failed
}

// Unbind kills the bound system and binds nothing. Unlike Switch it does so also while connected:
// killing leaves the session first. Programs call it before they exit.
func (b *Binding[S, C]) Unbind(ctx context.Context) error {
	from, err := b.claim(ctx)
	if err != nil {
		return &SwitchError{from, Pair{}, "check", from, err}
	}
	defer b.end()
	if from == (Pair{}) {
		return nil
	}
	if err := b.kill(ctx); err != nil {
		return &SwitchError{From: from, Step: "kill", Cause: err}
	}
	return nil
}

// begin checks everything that can be without touching the system, and makes the switch this
// call's own. Where there is nothing to switch, from is to.
func (b *Binding[S, C]) begin(ctx context.Context, to Pair) (from, whole Pair, err error) {
	from = b.Bound()
	if to.Protocol == "" {
		to.Protocol = from.Protocol
	}
	if to.Transport == "" {
		to.Transport = from.Transport
	}
	if err := b.possible(to); err != nil {
		return from, to, err
	}
	if from == to {
		return from, to, nil
	}
	held, err := b.claim(ctx)
	if err != nil {
		return from, to, err
	}
	if held != from { // another switch came between
		b.end()
		return held, to, ErrSwitching
	}
	if err := b.disconnected(ctx); err != nil {
		b.end()
		return from, to, err
	}
	return from, to, nil
}

// disconnected says why the bound system cannot be killed for a switch.
func (b *Binding[S, C]) disconnected(ctx context.Context) error {
	if b.pair == (Pair{}) {
		return nil
	}
	connected, err := b.system.Connected(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%v does not say whether it is connected: %w", b.pair, err)
	case connected:
		return fmt.Errorf("%w: %v is connected, disconnect first", ErrConnected, b.pair)
	}
	return nil
}

// possible reports whether a pair exists.
func (b *Binding[S, C]) possible(p Pair) error {
	protocols, transports := b.Names()
	protocol, transport := b.protocol(p.Protocol), b.transport(p.Transport)
	switch {
	case protocol == nil && p.Protocol == "":
		return fmt.Errorf("%w: a protocol must be given, one of %s", ErrUnbound, strings.Join(protocols, ", "))
	case protocol == nil:
		return fmt.Errorf("%w: protocol %s; there are %s", ErrUnknown, p.Protocol, strings.Join(protocols, ", "))
	case transport == nil && p.Transport == "":
		return fmt.Errorf("%w: a transport must be given, one of %s", ErrUnbound, strings.Join(transports, ", "))
	case transport == nil:
		return fmt.Errorf("%w: transport %s; there are %s", ErrUnknown, p.Transport, strings.Join(transports, ", "))
	case transport.PeerToPeerOnly && !protocol.PeerToPeer:
		return fmt.Errorf("%w: %s has a server, %s cannot carry it", ErrPeerToPeerOnly, p.Protocol, p.Transport)
	}
	return nil
}

// claim waits until nobody uses the system and keeps others from it until end.
func (b *Binding[S, C]) claim(ctx context.Context) (Pair, error) {
	b.mu.Lock()
	if b.switching {
		defer b.mu.Unlock()
		return b.pair, ErrSwitching
	}
	b.switching = true
	pair := b.pair
	if b.uses == 0 {
		b.mu.Unlock()
		return pair, nil
	}
	unused := make(chan struct{})
	b.unused = unused
	b.mu.Unlock()

	timer := time.NewTimer(Patience)
	defer timer.Stop()
	err := error(nil)
	select {
	case <-unused:
		return pair, nil
	case <-timer.C:
		err = fmt.Errorf("%w for more than %v", ErrInUse, Patience)
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", ErrInUse, context.Cause(ctx))
	}
	b.end()
	return pair, err
}

func (b *Binding[S, C]) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.switching, b.unused = false, nil
}

// kill ends the bound system; the switch is this call's own.
func (b *Binding[S, C]) kill(ctx context.Context) error {
	b.mu.Lock()
	bound, system := b.pair != (Pair{}), b.system
	var none S
	b.pair, b.system = Pair{}, none
	b.mu.Unlock()
	if !bound {
		return nil
	}
	return system.Kill(ctx)
}

// initialise opens the carrier of a pair and makes its system the bound one.
func (b *Binding[S, C]) initialise(ctx context.Context, p Pair) (step string, err error) {
	carrier, err := b.transport(p.Transport).Open(ctx)
	if err != nil {
		return "open", err
	}
	system, err := b.protocol(p.Protocol).Init(ctx, carrier)
	if err != nil {
		return "init", errors.Join(err, carrier.Close())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pair, b.system = p, system
	return "", nil
}
