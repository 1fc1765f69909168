// Package otel shows the counters of drivers to OpenTelemetry.
//
// It is a module of its own, so that only programs that want it get the
// library. It knows drivers by their [driver.Counters] alone. Start from [New].
package otel

import (
	"context"

	"github.com/parley-go/parley/runtime/driver"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Observer is a driver.Observer, to be set in the driver's Options. Each driver needs one of its own.
type Observer struct {
	registration metric.Registration
	latest       driver.Latest
}

// New returns an observer for one driver. Its instruments, one for each counter, belong to the
// meter and are named parley.steps and so on. The attributes, such as protocol, role and instance,
// tell drivers apart. New fails if the meter refuses an instrument.
func New(meter metric.Meter, attributes ...attribute.KeyValue) (*Observer, error) {
	o := &Observer{}
	with := metric.WithAttributes(attributes...)
	type instrument struct {
		metric.Int64Observable
		of func(*driver.Counters) uint64
	}
	var all []instrument
	var observables []metric.Observable
	for _, m := range driver.Metrics() {
		var i metric.Int64Observable
		var err error
		if m.Level {
			i, err = meter.Int64ObservableGauge("parley."+m.Name, metric.WithDescription(m.Help))
		} else {
			i, err = meter.Int64ObservableCounter("parley."+m.Name, metric.WithDescription(m.Help))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, instrument{i, m.Of})
		observables = append(observables, i)
	}
	var err error
	o.registration, err = meter.RegisterCallback(func(_ context.Context, out metric.Observer) error {
		c := o.latest.Counters()
		for _, i := range all {
			out.ObserveInt64(i.Int64Observable, int64(i.of(&c)), with)
		}
		return nil
	}, observables...)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Observe implements driver.Observer.
func (o *Observer) Observe(c *driver.Counters) { o.latest.Observe(c) }

// Close takes the driver's counters out of the meter.
func (o *Observer) Close() error { return o.registration.Unregister() }
