package world

// Stopwatch counts the beats that pass along a run from where one condition becomes true until
// another, the goal, is true. A beat has passed when all instances whose beats count have felt it.
// One that some of them had felt before the count began does not count. The zero Stopwatch stands
// still.
//
// Its number is 0 where it stands still, and otherwise 2*(n+started) where n beats have passed,
// with one more while a beat is passing. An n of -1 waits for the end of a beat that does not count.
type Stopwatch int64

const started = 2

// Running reports whether the count has begun, and the goal has not come since.
func (s Stopwatch) Running() bool { return s != 0 }

// Late reports whether more than so many beats have passed. That stays so.
func (s Stopwatch) Late(most int64) bool { return s == late(most) }

func late(most int64) Stopwatch { return Stopwatch(2 * (most + 1 + started)) }

// Next is the stopwatch after a step of the run. Of the instances whose beats count, as many as
// felt and unfelt say have felt the last beat, or have not. when and goal are what the conditions
// are now; a stopwatch that runs does not look at when. most is the bound, in beats.
func (s Stopwatch) Next(felt, unfelt int, when, goal bool, most int64) Stopwatch {
	n, passing := s/2, s%2 == 1
	switch {
	case s.Late(most):
		return s
	case goal, !s.Running() && !when:
		return 0
	case !s.Running() && felt > 0 && unfelt > 0:
		n = started - 1
	case !s.Running():
		n = started
	case passing && unfelt == 0:
		n++
	}
	switch {
	case int64(n) > most+started:
		return late(most)
	case unfelt > 0:
		return 2*n + 1
	}
	return 2 * n
}
