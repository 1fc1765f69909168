package driver_test

import (
	"reflect"
	"testing"

	"github.com/parley-go/parley/runtime/driver"
)

// TestMetricsAreTheCounters: every field has one metric, which reads it.
func TestMetricsAreTheCounters(t *testing.T) {
	metrics := driver.Metrics()
	seen := map[string]bool{}
	for _, m := range metrics {
		if seen[m.Name] || m.Help == "" {
			t.Errorf("%s: given twice, or without help", m.Name)
		}
		seen[m.Name] = true
	}
	fields := reflect.TypeFor[driver.Counters]()
	if fields.NumField() != len(metrics) {
		t.Errorf("%d counters, %d metrics", fields.NumField(), len(metrics))
	}
	for i := range fields.NumField() {
		var c driver.Counters
		reflect.ValueOf(&c).Elem().Field(i).SetUint(7)
		reading := 0
		for _, m := range metrics {
			if m.Of(&c) == 7 {
				reading++
			}
		}
		if reading != 1 {
			t.Errorf("%s is read by %d metrics", fields.Field(i).Name, reading)
		}
	}
}

// TestLatestIsACopy: what the driver does to its counters afterwards does not show.
func TestLatestIsACopy(t *testing.T) {
	var l driver.Latest
	var o driver.Observer = &l
	if got := l.Counters(); got != (driver.Counters{}) {
		t.Errorf("%+v before the first batch", got)
	}
	c := driver.Counters{Steps: 3}
	o.Observe(&c)
	c.Steps++
	if got := l.Counters(); got != (driver.Counters{Steps: 3}) {
		t.Errorf("%+v, want 3 steps", got)
	}
}
