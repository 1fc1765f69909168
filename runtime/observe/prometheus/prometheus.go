// Package prometheus shows the counters of drivers to Prometheus.
//
// It is a module of its own, so that only programs that want it get the client
// library. It knows drivers by their [driver.Counters] alone. Start from [New].
package prometheus

import (
	"github.com/parley-go/parley/runtime/driver"
	"github.com/prometheus/client_golang/prometheus"
)

// Observer is a driver.Observer, to be set in the driver's Options, and a
// prometheus.Collector, to be registered. Each driver needs one of its own.
type Observer struct {
	metrics []metric
	latest  driver.Latest
}

type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*driver.Counters) uint64
}

// New returns an observer for one driver. Its metrics are parley_steps_total and so
// on, one for each counter; labels, such as protocol, role and instance, tell drivers
// of one registry apart.
func New(labels prometheus.Labels) *Observer {
	o := &Observer{}
	for _, m := range driver.Metrics() {
		name, kind := "parley_"+m.Name+"_total", prometheus.CounterValue
		if m.Level {
			name, kind = "parley_"+m.Name, prometheus.GaugeValue
		}
		o.metrics = append(o.metrics, metric{prometheus.NewDesc(name, m.Help+".", nil, labels), kind, m.Of})
	}
	return o
}

// Observe implements driver.Observer.
func (o *Observer) Observe(c *driver.Counters) { o.latest.Observe(c) }

// Describe implements prometheus.Collector.
func (o *Observer) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range o.metrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector: the totals as of the driver's last batch of steps.
func (o *Observer) Collect(ch chan<- prometheus.Metric) {
	c := o.latest.Counters()
	for _, m := range o.metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(m.of(&c)))
	}
}
