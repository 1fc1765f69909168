package driver

import (
	"log/slog"
	"net"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// Options say how a machine is run. The zero value is usable. All handlers are
// called by the goroutine that owns the machine, after a step has been carried
// out; they may read the runner but must not step it, and may call every
// method of the Driver but Do and Read, which would wait for themselves (use Post).
type Options[R fsm.Runner] struct {
	// OnReport is called for each report: effect i of r's last step.
	OnReport func(r R, i int)
	// OnState is called after a step that changed the control state, after its reports.
	OnState func(r R, from, to uint16)
	// OnLink is called when the link to a peer has come up or been lost, after
	// the machine has taken the event. For a lost link, why is io.EOF after an
	// orderly close by the peer, the *Error for which the driver closed it, or the
	// carrier's error.
	OnLink func(r R, peer fsm.Peer, up bool, why error)
	// OnError is called for everything that went wrong but a command given
	// with Do, whose caller gets the error.
	OnError func(r R, err *Error)

	// KeepRefused leaves the link open when the machine refuses a message, or would
	// defer it and holds as many already; KeepMalformed when a whole frame cannot be
	// decoded. The message is dropped. A stream in which no frame begins where one
	// should is always closed: its boundaries are lost.
	KeepRefused, KeepMalformed bool
	// KeepMalformedBeside is KeepMalformed for the channels beside the one whose end the machine hears
	// of: a datagram there may be forged, while nobody else can have sent what comes over the connection.
	KeepMalformedBeside bool

	// IdleLimit closes the link to a peer from which no whole frame came for so long; 0: never.
	IdleLimit time.Duration
	// HandshakeLimit closes a link whose peer has not sent one acceptable
	// message within this time after the link came up; 0: never.
	HandshakeLimit time.Duration
	// FrameRate is the most frames a second that a Host takes from the stream of one peer, 0 for no
	// limit. A second's worth may come at once; then the peer is not read from for a while, so that
	// nothing is lost. Bytes are limited by the link (tcp.ServeConfig.ByteRate), and so is
	// everything over datagrams. A Driver does not use it.
	FrameRate int
	// Steady makes timers fit for clocks: a timer that its own expiry starts anew counts from when it was due,
	// however late that was handled, and a Driver lets what is due expire before what has arrived is handled.
	// A machine that was kept from running catches up on all that it has missed.
	Steady bool
	// StopAtFinal ends Run when the machine has entered a final state.
	StopAtFinal bool
	// HandOver gets, when Run ends because the machine is final, each connection whose bytes are no messages any
	// more (fsm.Phase.Raw): what has come of them already is read first. It belongs to the program from then on.
	// Nil: such links are closed like all others. A Host does not use it.
	HandOver func(r R, peer fsm.Peer, conn net.Conn)

	// Mailbox is the capacity for commands and arrivals that wait, 0 for 256.
	Mailbox int
	// ReceiveBuffer is the size in bytes of the buffer for each stream, at
	// least the largest frame; 0 for transport.DefaultReceiveBuffer.
	ReceiveBuffer int

	// Instance is the machine's name in logs and records; may be empty.
	Instance string
	// Logger gets links and errors; each step at level debug, if that level
	// is enabled when the driver is made. May be nil.
	Logger *slog.Logger
	// Observer is told the counters. May be nil.
	Observer Observer
	// Trace lists who records each step. A recorder that fails is reported once and goes on being
	// counted.
	Trace []trace.Sink
}

func (o Options[R]) withDefaults() Options[R] {
	if o.Mailbox <= 0 {
		o.Mailbox = 256
	}
	return o
}

// Observer receives the counters of a driver or host, for metrics. The goroutine that owns the machines
// calls it after each batch of steps; it must not block. Adapters for metrics systems are modules
// of their own.
type Observer interface {
	// Observe gets the totals since the start; c is valid during the call.
	Observe(c *Counters)
}

// Counters are totals since the driver was made.
type Counters struct {
	Steps     uint64 // events delivered to the machine
	Commands  uint64 // of which commands of the program
	Timeouts  uint64 // of which timer expiries
	Ignored   uint64 // events the state ignores
	Deferred  uint64 // messages deferred
	Refused   uint64 // events refused, commands included
	Malformed uint64 // frames that could not be decoded

	FramesIn, FramesOut uint64
	BytesIn, BytesOut   uint64 // bytes of these frames
	SendsDropped        uint64 // frames for peers without a link, or that have no encoding
	DeferredDropped     uint64 // deferred messages given up because their link is gone, or more than fsm.Info.Deferred

	Reports            uint64
	LinksUp, LinksLost uint64
	Silent             uint64 // links closed for IdleLimit or HandshakeLimit
	Throttled          uint64 // times a peer was not read from for FrameRate
	MailboxHigh        uint64 // most items that ever waited
	MailboxFull        uint64 // items that found no room
	TraceFailures      uint64 // recorders that have failed
}
