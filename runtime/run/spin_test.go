package run

import (
	"reflect"
	"testing"
)

const trailModel = `active proctype a()
{
	do
	:: d_step { /* idle change{x: 1, y: 2}, specs/x/spec.yaml:3 */
		a_state == 0 ->
		a_state = 1;
	}
	:: d_step { /* again expires */
		a_again ->
		a_again = 0;
	}
	:: d_step { /* a message from p[1], which arrives again */
		len(p_1_to_a) > 0 ->
		skip
	}
	:: d_step { /* a message from p[1] is lost */
		len(p_1_to_a) > 0 ->
		skip
	}
	od
}
active proctype p_1()
{
	do
	:: d_step { /* start */
		!p_1_started ->
		p_1_started = 1;
	}
	:: d_step { /* a message from a: HELLO in idle */
		len(a_to_p_1) > 0 ->
		skip
	}
	od
}
`

const trailText = `spin: model.pml:3, warning, nothing
  1:	proc  1 (p_1:1) model.pml:25 (state 3)	[(!(p_1_started))]
  1:	proc  1 (p_1:1) model.pml:26 (state 2)	[p_1_started = 1]
  2:	proc  0 (a:1) model.pml:5 (state 9)	[((a_state==0))]
  2:	proc  0 (a:1) model.pml:6 (state 2)	[a_state = 1]
  3:	proc  1 (p_1:1) model.pml:29 (state 5)	[((len(a_to_p_1)>0))]
  4:	proc  0 (a:1) model.pml:9 (state 9)	[(a_again)]
  5:	proc  0 (a:1) model.pml:13 (state 9)	[((len(p_1_to_a)>0))]
  6:	proc  0 (a:1) model.pml:17 (state 9)	[((len(p_1_to_a)>0))]
  7:	proc  2 (claims:1) model.pml:40 (state 1)	[(1)]
spin: trail ends after 7 steps
`

// TestReadTrail reads each kind of step of a trail; what the process of claims does is none.
func TestReadTrail(t *testing.T) {
	instances := []Instance{{Name: "a"}, {Name: "p[1]"}}
	r, err := ReadTrail(trailModel, trailText, instances)
	want := []Step{
		{Kind: Start, Who: 1, From: Nobody, Event: "start"},
		{Kind: Command, Who: 0, From: Nobody, Event: "change{x: 1, y: 2}"},
		{Kind: Message, Who: 1, From: 0},
		{Kind: Timer, Who: 0, From: Nobody, Event: "again"},
		{Kind: Copy, Who: 0, From: 1},
		{Kind: Lost, Who: 0, From: 1},
	}
	if err != nil || !reflect.DeepEqual(r.Steps, want) {
		t.Fatalf("%v\n%+v", err, r)
	}
	if _, err := ReadTrail("", trailText, instances); err == nil {
		t.Error("a trail of another model was read")
	}
}
