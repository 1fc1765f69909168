package looplab_test

import (
	"context"
	"testing"
	"testing/synctest"

	fsmlib "github.com/looplab/fsm"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// TestDriver: two machines behind FSMs agree over a link, and their callbacks see it.
func TestDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sides [2]*driver.Driver[*confirmFSM]
		var entered [2][]string
		var links [2]*mem.Link
		links[0], links[1] = mem.Pair(mem.Config{Stream: true})
		for i := range sides {
			p, _ := newConfirm(fsmlib.Callbacks{"enter_state": func(_ context.Context, e *fsmlib.Event) {
				entered[i] = append(entered[i], e.Dst)
			}})
			sides[i] = driver.New(p, driver.Options[*confirmFSM]{})
			if err := sides[i].Attach(0, links[i]); err != nil {
				t.Fatal(err)
			}
			go sides[i].Run(t.Context())
		}
		for _, d := range sides {
			res, err := d.Do(t.Context(), func(p *confirmFSM) fsm.Result {
				res, _ := p.Command("confirm")
				return res
			})
			if err != nil || res.Code != fsm.Took {
				t.Error(res, err)
			}
			synctest.Wait()
		}
		for _, d := range sides {
			d.Stop()
			<-d.Done()
		}
		synctest.Wait()
		for i := range sides {
			if n := len(entered[i]); n == 0 || entered[i][n-1] != "done" {
				t.Errorf("side %d went through %q", i, entered[i])
			}
		}
	})
}
