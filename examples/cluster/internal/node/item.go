package node

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// item is what a server knows of a game, and what it does while the game is here.
type item struct {
	game store.Game
	mu   sync.Mutex // one question at a time; what follows is under it
	// claim says whose the game is, and serves what is done while it is ours.
	claim  *tenure.ClaimRunner
	record *record
	armed  bool // it has a timer that runs
	serves service
	since  time.Time  // it is ours
	idle   time.Time  // nobody has been there
	gone   bool       // it is not in the table any more
	by     netip.Addr // for whom it began here; not valid where it went on, or is not here. Under the node's lock.
}

// service is a game that is here.
type service interface {
	// join lets a player in, who has connected and said what it wants. It belongs to the service from then on.
	join(v visitor, epoch tenure.Epoch)
	// players says how many there are, and over whether nobody will come again.
	players() int
	over() bool
	stop()
}

// outcome is what came of asking for a game.
type outcome struct {
	here    bool
	epoch   tenure.Epoch
	owner   tenure.Id // not 0: it is there
	limited bool      // it may not begin: somebody has begun too many
}

// attempts is how often the store is asked again when it does not answer.
const attempts = 3

// newItem begins a game's claim, which has its link to the store from then on.
func newItem(game store.Game, claim *tenure.ClaimRunner, sink trace.Sink) *item {
	it := &item{game: game, claim: claim, record: newRecord(sink, game, claim), idle: time.Now()}
	it.step(trace.Start, claim.Start)
	it.step(trace.Up, func() fsm.Result { return claim.LinkUp(tenure.StoreConst) })
	return it
}

// ask asks for the game. Where it is nobody's, may says whether it may begin. The caller has the lock.
func (it *item) ask(ctx context.Context, st *store.Store, known tenure.Epoch, may func() bool) outcome {
	if it.step(trace.Command, func() fsm.Result { return it.claim.Ask(known) }).Code == fsm.Ignored && it.armed {
		it.timeout() // it was left without an answer the last time
	}
	return it.carryOut(ctx, st, may)
}

// carryOut does what the machine wants, and gives it the answers, until it wants nothing more or gets none. A machine
// that may not begin gets no answer either.
func (it *item) carryOut(ctx context.Context, st *store.Store, may func() bool) (out outcome) {
	silent, asked := 0, false
	for {
		var question *tenure.Message
		for i := range it.claim.Effects() {
			switch it.claim.Effect(i).Kind {
			case fsm.StartTimer:
				it.armed = true
			case fsm.StopTimer:
				it.armed = false
			case fsm.Send:
				question = it.claim.Message(i)
			case fsm.Report:
				switch r := it.claim.Report(i); r.Kind {
				case tenure.ClaimReportHere:
					out = outcome{here: true, epoch: r.Here.Epoch}
				case tenure.ClaimReportElsewhere:
					out = outcome{owner: r.Elsewhere.Owner, epoch: r.Elsewhere.Epoch}
				case tenure.ClaimReportStopped:
					it.halt()
				}
			}
		}
		if question == nil {
			return out
		}
		begins := question.Kind == tenure.MessageTake && it.claim.Machine.Owner == 0
		if begins && may != nil && !asked {
			if asked = true; !may() {
				return outcome{limited: true}
			}
		}
		a, ok := st.Answer(ctx, it.game, "", question)
		if !ok {
			if silent++; silent >= attempts || ctx.Err() != nil {
				return outcome{}
			}
			if !it.armed { // it waits for no answer
				return out
			}
			it.timeout()
			continue
		}
		frame, err := tenure.AppendMessage(nil, &a)
		if err != nil {
			return outcome{} // a number that the protocol has no room for
		}
		before := it.claim.State()
		res, err := it.claim.Frame(tenure.StoreConst, frame)
		if err != nil {
			return outcome{}
		}
		it.record.step(it.claim, trace.Message, frame, before, res)
	}
}

// step has an event happen to the machine, and records it.
func (it *item) step(kind trace.Kind, happens func() fsm.Result) fsm.Result {
	before := it.claim.State()
	res := happens()
	it.record.step(it.claim, kind, nil, before, res)
	return res
}

// timeout tells the machine that there is no answer.
func (it *item) timeout() {
	it.armed = false
	it.step(trace.Timeout, func() fsm.Result { return it.claim.Timeout(0, 0) })
}

// halt ends what is done while the game is here.
func (it *item) halt() {
	if it.serves != nil {
		it.serves.stop()
		it.serves = nil
	}
}

// fence is for when the session is over.
func (it *item) fence() {
	it.step(trace.Command, it.claim.Fence)
	it.halt()
}

// leave gives the game back, so that another server may have it at once.
func (it *item) leave(ctx context.Context, st *store.Store) {
	if it.step(trace.Command, it.claim.Leave).Code != fsm.Refused {
		it.carryOut(ctx, st, nil)
	}
	it.halt()
}
