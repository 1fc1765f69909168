package player

import (
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
)

// battle is how this side plays the frames.
type battle struct {
	mode     Mode
	sim      sim
	rng      uint32 // of the own inputs
	inputs   [2]inputs
	seen     [2]seen
	begun    time.Time
	next     time.Time // when the next frame may begin
	finished bool
}

// inputs are those of one side that wait for their frame.
type inputs struct{ list []netplay.Input }

func (q *inputs) push(in netplay.Input) { q.list = append(q.list, in) }

func (q *inputs) pop() (netplay.Input, bool) {
	if len(q.list) == 0 {
		return 0, false
	}
	in := q.list[0]
	q.list = append(q.list[:0], q.list[1:]...)
	return in, true
}

// patience is how long the other side's first checksum is waited for. The game
// says it within a frame. Of two copies that both wait, the accepting one begins.
func (b *brain) patience() time.Duration {
	if b.cfg.Server {
		return time.Second
	}
	return 5 * time.Second
}

// dueFrame plays frame after frame: a checksum, an input, and the end of the
// battle when a ship is gone.
func (b *brain) dueFrame() *command {
	part := &b.m.Battle
	if b.finishDue() {
		return &command{give: func(r runner) fsm.Result { return r.Finish() },
			done: func() { b.battle.finished = true }}
	}
	switch part.Frames.State {
	case netplay.BattleFramesStateInputDue:
		in := b.input()
		return &command{frame: true, give: func(r runner) fsm.Result { return r.Input(in) }, done: func() {
			b.battle.inputs[own].push(in)
			b.battle.watch(own, in)
			b.position.sent(b)
		}}
	case netplay.BattleFramesStateChecksumDue:
		if b.m.State != netplay.StateInBattle && part.Frames.Now > part.EndFrame {
			return nil
		}
		if b.now.Before(b.battle.next) {
			b.at(b.battle.next)
			return nil
		}
		return b.checksum()
	}
	return nil
}

// finishDue says that a ship is gone. Without a simulation, it is when the other side says so.
func (b *brain) finishDue() bool {
	part := &b.m.Battle
	if b.m.State != netplay.StateInBattle || part.Ready.State == netplay.BattleReadyStateLocalReady {
		return false
	}
	if b.battle.mode == Echo {
		return part.Ready.State == netplay.BattleReadyStateRemoteReady
	}
	return b.battle.mode == Own && b.battle.sim.over()
}

// checksum gives the checksum of the present frame, when it is known.
func (b *brain) checksum() *command {
	echo, heard := b.heardChecksum()
	if b.battle.mode == Auto && !b.decide(echo, heard) {
		return nil
	}
	crc := echo
	if b.battle.mode == Own {
		crc = b.battle.sim.checksum()
	} else if !heard {
		return nil
	}
	return &command{frame: true, give: func(r runner) fsm.Result { return r.Checksum(crc) }, done: b.pace}
}

// heardChecksum returns the other side's checksum of the present frame, if it has come.
func (b *brain) heardChecksum() (netplay.Crc, bool) {
	f := &b.m.Battle.Frames
	i := int(min(f.Now, netplay.Frame(f.Delay)))
	if i >= int(f.Heard.Len) {
		return 0, false
	}
	return f.Heard.Items[i], true
}

// decide settles where checksums come from: see Auto.
func (b *brain) decide(crc netplay.Crc, heard bool) bool {
	switch {
	case heard && crc != b.battle.sim.checksum():
		b.battle.mode = Echo
	case heard || b.since(b.battle.begun, b.patience()):
		b.battle.mode = Own
	default:
		return false
	}
	b.line("note checksums: %v", b.battle.mode)
	return true
}

// pace sets when the next frame may begin.
func (b *brain) pace() {
	if b.cfg.FPS <= 0 {
		return
	}
	frame := time.Second / time.Duration(b.cfg.FPS)
	if b.battle.next = b.battle.next.Add(frame); b.battle.next.Before(b.now) {
		b.battle.next = b.now.Add(frame)
	}
}

// input returns this side's input in the present frame.
func (b *brain) input() netplay.Input {
	if in, ok := b.position.input(); ok {
		return in
	}
	if b.battle.mode != Own {
		return 0 // who lost a ship is easier to tell while ours does nothing
	}
	return fight(&b.battle.rng, uint32(b.m.Battle.Frames.Now))
}

// simulate plays one frame.
func (b *brain) simulate(frame netplay.Frame) {
	b.res.Frames++
	b.match.frames++
	var in [2]netplay.Input
	for i := range 2 {
		bits, ok := b.battle.inputs[i].pop()
		if !ok {
			b.fail("frame without an input", nil)
		}
		in[b.index(i)] = bits
	}
	if b.battle.mode == Echo {
		return
	}
	b.battle.sim.step(in)
	if b.battle.mode == Own {
		b.res.Checked++
	}
}
