package otel_test

import (
	"testing"
	"testing/synctest"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/observe/otel"
	"github.com/parley-go/parley/runtime/transport/mem"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collect returns the totals by instrument and instance.
func collect(t *testing.T, reader *metric.ManualReader) map[string]int64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	note := func(name string, points []metricdata.DataPoint[int64]) {
		for _, p := range points {
			instance, _ := p.Attributes.Value("instance")
			all[name+" "+instance.AsString()] = p.Value
		}
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				note(m.Name, d.DataPoints)
			case metricdata.Gauge[int64]:
				note(m.Name, d.DataPoints)
			}
		}
	}
	return all
}

// TestTwoDrivers: two drivers of one meter count what they do.
func TestTwoDrivers(t *testing.T) {
	reader := metric.NewManualReader()
	meter := metric.NewMeterProvider(metric.WithReader(reader)).Meter("parley")
	var observers []*otel.Observer
	synctest.Test(t, func(t *testing.T) {
		x, y := mem.Pair(mem.Config{Stream: true})
		var sides []*driver.Driver[*pingpong.Runner]
		for i, link := range []*mem.Link{x, y} {
			o, err := otel.New(meter, attribute.String("instance", string(rune('a'+i))))
			if err != nil {
				t.Fatal(err)
			}
			observers = append(observers, o)
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
	got := collect(t, reader)
	for name, want := range map[string]int64{"parley.commands a": 3, "parley.commands b": 0,
		"parley.frames_in b": 3, "parley.bytes_out a": 21} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s = %d, want %d", name, v, want)
		}
	}
	if len(got) != 2*len(driver.Metrics()) {
		t.Errorf("%d values", len(got))
	}
	if err := observers[1].Close(); err != nil {
		t.Error(err)
	}
	if got := collect(t, reader); len(got) != len(driver.Metrics()) {
		t.Errorf("%d values after one was closed", len(got))
	}
}
