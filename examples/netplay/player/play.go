package player

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

type runner = *netplay.PeerRunner

// Play connects, plays, and leaves. The error is nil if everything that was
// asked for has been played and the connection was left in good order, a
// *Failure if it was not, and any other error if nothing could be begun. When
// ctx ends, this side leaves and the error is a *Failure with ctx's cause.
func Play(ctx context.Context, cfg Config) (Result, error) {
	if err := cfg.check(); err != nil {
		if cfg.Link != nil {
			cfg.Link.Abort()
		}
		return Result{}, err
	}
	b := newBrain(cfg.withDefaults())
	b.d = driver.New(netplay.NewPeerRunner(b.cfg.Server), b.options())
	ran := make(chan error, 1)
	go func() { ran <- b.d.Run(context.WithoutCancel(ctx)); b.q.wake() }()
	err := b.connect(ctx)
	if err == nil {
		err = b.play(ctx)
	}
	b.clear()
	b.leave()
	<-b.d.Done()
	<-ran
	b.listen(b.q.take())
	b.sum()
	if err == nil {
		err = b.traceErr
	}
	return b.res, err
}

func (b *brain) options() driver.Options[runner] {
	instance := "connector"
	if b.cfg.Server {
		instance = "acceptor"
	}
	return driver.Options[runner]{
		Instance: instance, Trace: b.cfg.Sinks, StopAtFinal: true,
		IdleLimit: b.cfg.Silence, HandshakeLimit: b.cfg.Handshake,
		OnReport: b.onReport, OnState: b.onState, OnLink: b.onLink, OnError: b.onError,
		Observer: b.q, // an answer that changes nothing is no report, but may be what the next command waited for
	}
}

// The handlers run in the driver's goroutine: they put what they are told into the queue and return.

func (b *brain) onReport(r runner, i int) {
	e := event{kind: eventReport, report: *r.Report(i)}
	ofFrame := false
	switch e.report.Kind {
	case netplay.ReportHeardChecksum, netplay.ReportHeardInput, netplay.ReportSimulate:
		ofFrame = true
	}
	if !ofFrame || b.cfg.Verbose {
		e.text = string(r.AppendEffect(nil, i))
	}
	// What the other side can say any number of times without our doing anything is only shown.
	shown := false
	switch e.report.Kind {
	case netplay.ReportShipChanged, netplay.ReportNameChanged, netplay.ReportAlive, netplay.ReportMatchReset:
		shown = r.Machine.State == netplay.StateInSetup || e.report.Kind == netplay.ReportAlive
	}
	b.q.put(e, shown)
}

func (b *brain) onState(_ runner, from, to uint16) {
	b.q.put(event{kind: eventState, from: netplay.State(from), to: netplay.State(to)}, false)
}

func (b *brain) onLink(_ runner, _ fsm.Peer, up bool, why error) {
	b.q.put(event{kind: eventLink, up: up, err: why}, false)
}

func (b *brain) onError(_ runner, err *driver.Error) {
	b.q.put(event{kind: eventError, err: err}, false)
}

// connect gets a connection and gives it to the driver.
func (b *brain) connect(ctx context.Context) error {
	if minor, patch := netplay.Minor(b.cfg.Minor), netplay.Patch(b.cfg.Patch); minor != 0 || patch != 0 {
		if _, err := b.d.Do(ctx, func(r runner) fsm.Result { return r.Version(minor, patch) }); err != nil {
			return stopped(ctx, err)
		}
	}
	if _, err := b.d.Do(ctx, func(r runner) fsm.Result { return r.Connect() }); err != nil {
		return stopped(ctx, err)
	}
	link, err := b.link(ctx)
	if err != nil {
		return err
	}
	b.line("connected %v > %v", link.LocalAddr(), link.RemoteAddr(0))
	return b.d.Attach(0, link)
}

func (b *brain) link(ctx context.Context) (transport.Link, error) {
	limits := tcp.Config{Linger: 2 * time.Second, Pause: 250 * time.Millisecond, Attempts: -1}
	said := ""
	limits.OnRetry = func(attempt int, err error) {
		if s := err.Error(); s != said { // four times a second the same is no news
			said = s
			b.line("note attempt %d, more follow: %v", attempt, err)
		}
	}
	switch {
	case b.cfg.Link != nil:
		return b.cfg.Link, nil
	case b.cfg.Listen != "":
		var first sync.Once // any number of strangers may come; the link's end counts them
		limits.OnTurnedAway = func(from net.Addr, why error) {
			first.Do(func() { b.line("note turned away %v, others follow unseen: %v", from, why) })
		}
		if limits.Handshake = b.cfg.Handshake; limits.Handshake == 0 {
			limits.Handshake = -1
		}
		l, err := tcp.Listen("tcp", b.cfg.Listen, limits)
		if err != nil {
			return nil, err
		}
		b.line("listening on %v", l.Addr())
		if b.cfg.OnListen != nil {
			b.cfg.OnListen(l.Addr())
		}
		link, err := l.AcceptOne(ctx, opening().Await)
		if err != nil {
			l.Close()
			return nil, stopped(ctx, err)
		}
		if n := l.Stats(); n.Silent+n.Invalid+n.Yielded > 0 {
			b.line("note %d connections were turned away", n.Silent+n.Invalid+n.Yielded)
		}
		return link, nil
	}
	dial := ctx
	if b.cfg.Wait > 0 {
		var cancel context.CancelFunc
		dial, cancel = context.WithTimeout(ctx, b.cfg.Wait)
		defer cancel()
	}
	link, err := tcp.Dial(dial, "tcp", b.cfg.Connect, limits)
	if err != nil {
		return nil, stopped(ctx, err)
	}
	return link, nil
}

// opening is what the other side says first, without being spoken to: an INIT, be it that of a version
// that is refused afterwards. Who connects and does not say it gets no place.
func opening() transport.Opening {
	r := netplay.NewPeerRunner(true)
	return transport.Opening{Size: r.FrameSize, Max: r.Info().MaxFrame, Valid: func(frame []byte) bool {
		var m netplay.Message
		return netplay.DecodeMessage(frame, &m) == nil && m.Kind == netplay.MessageInit
	}}
}

// stopped prefers the cause of ctx's end to what followed from it.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}

// grace is how long a battle's end is played on for before this side leaves, whatever the reason.
const grace = 5 * time.Second

// clear plays on until this side may leave.
func (b *brain) clear() {
	for limit := time.Now().Add(grace); b.look() == nil && !b.mayLeave() && b.now.Before(limit); {
		b.wake = limit
		c := b.dueFrame()
		switch {
		case c == nil:
			b.wait(context.Background())
		case b.command(c) != nil:
			return
		}
	}
}

// leave ends the machine's run whatever state it is in.
func (b *brain) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	closed := false
	b.d.Read(ctx, func(r runner) {
		closed = r.Machine.State == netplay.StateClosed || r.Machine.State == netplay.StateUnconnected
	})
	if !closed {
		b.d.Do(ctx, func(r runner) fsm.Result { return r.Quit() })
	}
	b.d.Stop()
}

// traceOnly says that an error of the driver is the recorder's and no end of the match.
func traceOnly(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Kind == driver.TraceFailed
}
