package prometheus_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	observe "github.com/parley-go/parley/runtime/observe/prometheus"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestTwoDrivers: two drivers of one registry count what they do.
func TestTwoDrivers(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	synctest.Test(t, func(t *testing.T) {
		x, y := mem.Pair(mem.Config{Stream: true})
		var sides []*driver.Driver[*pingpong.Runner]
		for i, link := range []*mem.Link{x, y} {
			o := observe.New(prometheus.Labels{"instance": string(rune('a' + i))})
			registry.MustRegister(o)
			d := driver.New(pingpong.New(), driver.Options[*pingpong.Runner]{Observer: o})
			if err := d.Attach(0, link); err != nil {
				t.Fatal(err)
			}
			go d.Run(t.Context())
			sides = append(sides, d)
		}
		for n := range uint32(3) {
			if _, err := sides[0].Do(t.Context(), func(r *pingpong.Runner) fsm.Result {
				return r.Ping(n)
			}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for _, d := range sides {
			d.Stop()
			<-d.Done()
		}
	})
	want := `
# HELP parley_commands_total Steps that were commands of the program.
# TYPE parley_commands_total counter
parley_commands_total{instance="a"} 3
parley_commands_total{instance="b"} 0
# HELP parley_frames_in_total Frames received.
# TYPE parley_frames_in_total counter
parley_frames_in_total{instance="a"} 3
parley_frames_in_total{instance="b"} 3
# HELP parley_bytes_out_total Bytes of the frames sent.
# TYPE parley_bytes_out_total counter
parley_bytes_out_total{instance="a"} 21
parley_bytes_out_total{instance="b"} 21
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "parley_commands_total",
		"parley_frames_in_total", "parley_bytes_out_total"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 2*len(driver.Metrics()) {
		t.Errorf("%d metrics, %v", n, err)
	}
}
