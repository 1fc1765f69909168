package prometheus

import (
	"github.com/parley-go/parley/runtime/transport"
	"github.com/prometheus/client_golang/prometheus"
)

// Link is a prometheus.Collector of what a link, a listener or an IPX server counts.
type Link struct {
	counted transport.Counted
	descs   []*prometheus.Desc
}

// NewLink returns a collector, to be registered. Its metrics are parley_link_crowded_total and so
// on, one for each count; those that may fall, such as parley_link_peers, are gauges. Labels tell
// links of one registry apart, which must all be of one kind if they have the same names of labels.
func NewLink(counted transport.Counted, labels prometheus.Labels) *Link {
	l := &Link{counted: counted}
	for _, c := range counted.Counts() {
		name := "parley_link_" + c.Name
		if !c.Level {
			name += "_total"
		}
		l.descs = append(l.descs, prometheus.NewDesc(name, c.Help+".", nil, labels))
	}
	return l
}

// Describe implements prometheus.Collector.
func (l *Link) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range l.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector: the counts as of now.
func (l *Link) Collect(ch chan<- prometheus.Metric) {
	for i, c := range l.counted.Counts() {
		kind := prometheus.CounterValue
		if c.Level {
			kind = prometheus.GaugeValue
		}
		ch <- prometheus.MustNewConstMetric(l.descs[i], kind, float64(c.Value))
	}
}
