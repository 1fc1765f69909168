package probe

import (
	"testing"
	"time"
)

// planted is a mistake in a program: its machine is that of another text.
type planted struct {
	name     string
	old, new string
	kind     Kind
}

// TestPlanted: mistakes in a program that an honest peer can see are found, with a script that shows them again.
func TestPlanted(t *testing.T) {
	const path = "specs/confirm/spec.yaml"
	right := load(t, path)
	found := 0
	list := []planted{
		{"CONFIRM2 is not sent", "CONFIRM1: {send: CONFIRM2, goto: committed}", "CONFIRM1: {goto: committed}", Hung},
		{"CONFIRM1 instead of CONFIRM2", "confirm: {send: CONFIRM2, goto: committed}",
			"confirm: {send: CONFIRM1, goto: committed}", Left},
		{"CANCELACK is not sent", "CANCEL: {send: CANCELACK, goto: waiting}", "CANCEL: {goto: waiting}", Hung},
		{"CANCEL is answered by CANCEL", "CANCEL: {send: CANCELACK, goto: waiting}",
			"CANCEL: {send: CANCEL, goto: waiting}", Left},
		{"CONFIRM1 is refused", "        CONFIRM1: {goto: remoteOk}\n", "", Left},
		{"CHANGE is refused",
			"        CHANGE: {doc: the data changes and nothing else}\n      localOk", "      localOk", Left},
		{"a second CANCELACK", "CANCEL: {send: CANCELACK, goto: waiting}",
			"CANCEL: {do: [{send: CANCELACK}, {send: CANCELACK}], goto: waiting}", Left},
		{"CANCEL does not go back", "CANCEL: {send: CANCELACK, goto: waiting}", "CANCEL: {send: CANCELACK}", Left},
		{"a change does not take the agreement back", "CHANGE: {send: CANCEL, report: cancelled, goto: cancelWaiting}",
			"CHANGE: {report: cancelled, goto: cancelWaiting}", Hung},
		{"CANCEL is refused in committed", "        CANCEL: {send: CANCELACK, goto: localOk}\n", "", Left},
	}
	for _, x := range list {
		t.Run(x.name, func(t *testing.T) {
			v := &server{p: load(t, path, x.old, x.new), seed: 3}
			o := options()
			o.Findings, o.Patience, o.Sessions = 1, 300*time.Millisecond, 400
			r, err := Run(t.Context(), right, v.listen(t), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) == 0 {
				t.Errorf("not found: %+v", r)
				return
			}
			found++
			f := r.Findings[0]
			t.Logf("%d sessions, %.1fs: %s: %s, steady %t, script %q", r.Sessions, r.Seconds, f.Kind, f.Why,
				f.Steady, f.Script)
		})
	}
	t.Logf("%d of %d found", found, len(list))
}
