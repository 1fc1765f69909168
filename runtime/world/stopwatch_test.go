package world

import "testing"

// TestStopwatch counts the beats of two instances along runs. Of each step a letter tells what is
// so behind it: w when, g the goal, and otherwise neither. The digit is how many have yet to feel
// the last beat.
func TestStopwatch(t *testing.T) {
	for _, c := range []struct {
		steps string
		most  int64
		late  int // the step from which it is late; 0: never
	}{
		{"-0 -2 -1 -0 -2 -1 -0", 0, 0},              // nothing has begun
		{"w0 -2 -1 -0", 0, 4},                       // a beat is one when both have felt it
		{"w0 -2 -1 -0", 1, 0},                       //
		{"w0 -2 -1 -0 -2 -1 -0", 1, 7},              //
		{"-2 w2 -1 -0", 0, 4},                       // nobody had felt it: it counts
		{"-2 -1 w1 -0", 0, 0},                       // one had felt it: it does not
		{"-2 -1 w1 -0 -2 -1 -0", 0, 7},              // but the next does
		{"w0 -2 -1 g1 -0 -2 -1 -0", 0, 0},           // the goal ends the count
		{"w0 -2 -1 g1 w1 -0 -2 -1 -0", 0, 9},        // which begins anew
		{"w0 -2 -1 -0 g0 -0", 0, 4},                 // what was late stays so
		{"w0 w2 w1 w0 w2 w1 w0", 1, 7},              // while it runs, when does not matter
		{"w0 g2 -1 -0", 0, 0},                       //
		{"w0 -2 -1 -0 -2 -1 -0 -2 -1 -0", 2, 10},    //
		{"-2 -1 w1 -0 -2 -1 -0 -2 -1 -0", 1, 10},    //
		{"-2 -1 w1 g0 w0 -2 -1 -0 -2 -1 g0", 1, 0},  //
		{"-2 -1 w1 g0 w0 -2 -1 -0 -2 -1 -0", 1, 11}, //
	} {
		var s Stopwatch
		late := 0
		for i := 0; i < len(c.steps); i += 3 {
			unfelt := int(c.steps[i+1] - '0')
			s = s.Next(2-unfelt, unfelt, c.steps[i] == 'w', c.steps[i] == 'g', c.most)
			switch {
			case s.Late(c.most) && late == 0:
				late = i/3 + 1
			case !s.Late(c.most) && late > 0:
				t.Errorf("%s: late no longer at step %d", c.steps, i/3+1)
			}
		}
		if late != c.late {
			t.Errorf("%s, at most %d: late at step %d, want %d", c.steps, c.most, late, c.late)
		}
	}
}
