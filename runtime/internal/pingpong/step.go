package pingpong

import "github.com/parley-go/parley/runtime/fsm"

func took(t uint16) fsm.Result     { return fsm.Result{Code: fsm.Took, Transition: t} }
func deferred(t uint16) fsm.Result { return fsm.Result{Code: fsm.Deferred, Transition: t} }
func ignored(t uint16) fsm.Result  { return fsm.Result{Code: fsm.Ignored, Transition: t} }

var refused = fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}

func (r *Runner) step() fsm.Result {
	m, e := &r.M, &r.E
	switch {
	case e.Kind == Start && m.State == Off:
		return took(tStart)
	case m.State == Off:
		return r.stepOff()
	case m.State == Gone:
		if e.Kind == Lost || e.Kind == Timeout {
			return ignored(tGone)
		}
		return refused
	case e.Kind == Lost:
		r.emit(fsm.Report, Parted, 0)
		m.State, m.Open = Off, 0
		return took(tLost)
	case e.Kind == Timeout:
		m.Open--
		r.emit(fsm.Report, Late, e.Value)
		return took(tLate)
	case e.Kind == Message:
		return r.stepMessage()
	case e.Kind == Command:
		return r.stepCommand()
	}
	return refused
}

func (r *Runner) stepOff() fsm.Result {
	if r.E.Kind == Up {
		r.M.State = Idle
		return took(tOffUp)
	}
	return refused
}

func (r *Runner) stepMessage() fsm.Result {
	m, e := &r.M, &r.E
	switch {
	case e.ID == PING:
		r.emit(fsm.Send, PONG, e.Value)
		return took(tPING)
	case e.ID == PONG && m.Open > 0:
		m.Open--
		r.emit(fsm.StopTimer, 0, e.Value)
		r.emit(fsm.Report, Ponged, e.Value)
		return took(tPONG)
	case e.ID == READY && m.State == Idle:
		m.State = Behind
		return took(tREADY)
	case e.ID == READY && m.State == Ready:
		m.State = Idle
		m.Passes++
		r.emit(fsm.Report, Passed, m.Passes)
		return took(tReadyREADY)
	case e.ID == NOTE && m.State == Ready:
		return deferred(tReadyDefer)
	case e.ID == NOTE:
		r.emit(fsm.Report, Noted, uint32(e.Length))
		return took(tNote)
	case e.ID == BYE:
		m.State = Gone
		return took(tBYE)
	}
	return refused
}

func (r *Runner) stepCommand() fsm.Result {
	m, e := &r.M, &r.E
	switch {
	case e.ID == Ping:
		m.Open++
		r.emit(fsm.Send, PING, e.Value)
		r.emit(fsm.StartTimer, 0, e.Value)
		return took(tPing)
	case e.ID == Say && m.State != Ready:
		s := r.emit(fsm.Send, NOTE, 0)
		s.Note, s.N = e.Note, e.Length
		return took(tSay)
	case e.ID == Barrier && m.State == Idle:
		m.State = Ready
		r.emit(fsm.Send, READY, 0)
		return took(tBarrier)
	case e.ID == Barrier && m.State == Ready:
		return ignored(tReadyBarrier)
	case e.ID == Barrier && m.State == Behind:
		m.State = Idle
		m.Passes++
		r.emit(fsm.Send, READY, 0)
		r.emit(fsm.Report, Passed, m.Passes)
		return took(tBehindBarrier)
	case e.ID == Quit:
		m.State = Gone
		r.emit(fsm.Send, BYE, 0)
		r.emit(fsm.Close, 0, 0)
		return took(tQuit)
	}
	return refused
}
