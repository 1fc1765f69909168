package conform

import (
	"fmt"
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/runtime/fsm"
)

// TestKindsHaveNames: what a program prints of an event, a report or a result are the
// specification's words, not numbers.
func TestKindsHaveNames(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		confirm.EventStart: "start", confirm.ReceiveConfirm1: "CONFIRM1", confirm.CommandChange: "change",
		confirm.EventKind(99):   "invalid",
		confirm.ReportCancelled: "cancelled", confirm.ReportKind(99): "invalid", confirm.MessageCancel: "CANCEL",
		fsm.Result{Code: fsm.Took, Transition: 12}: "took, transition 12",
	} {
		if got.String() != want {
			t.Errorf("%q is %q", want, got)
		}
	}
}
