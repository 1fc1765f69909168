package otel

import (
	"context"

	"github.com/parley-go/parley/runtime/transport"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Link shows what a link, a listener or an IPX server counts.
type Link struct{ registration metric.Registration }

// NewLink begins to show the counts of a link as instruments parley.link.crowded and so on, one
// for each; those that may fall, such as parley.link.peers, are gauges. The attributes tell links
// apart. It fails if the meter refuses an instrument.
func NewLink(meter metric.Meter, counted transport.Counted, attributes ...attribute.KeyValue) (*Link, error) {
	with := metric.WithAttributes(attributes...)
	var all []metric.Observable
	var instruments []metric.Int64Observable
	for _, c := range counted.Counts() {
		var i metric.Int64Observable
		var err error
		if c.Level {
			i, err = meter.Int64ObservableGauge("parley.link."+c.Name, metric.WithDescription(c.Help))
		} else {
			i, err = meter.Int64ObservableCounter("parley.link."+c.Name, metric.WithDescription(c.Help))
		}
		if err != nil {
			return nil, err
		}
		instruments, all = append(instruments, i), append(all, i)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, out metric.Observer) error {
		for i, c := range counted.Counts() {
			out.ObserveInt64(instruments[i], int64(c.Value), with)
		}
		return nil
	}, all...)
	if err != nil {
		return nil, err
	}
	return &Link{registration}, nil
}

// Close takes the counts out of the meter.
func (l *Link) Close() error { return l.registration.Unregister() }
