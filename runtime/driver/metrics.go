package driver

import "sync"

// Metric describes one of the Counters for a metrics system.
type Metric struct {
	// Name is in lower case with underscores, without prefix, unit or suffix.
	Name string
	// Help is one sentence without a full stop.
	Help string
	// Level: the value is a high-water mark, not a total.
	Level bool
	// Of takes the value out of the counters.
	Of func(c *Counters) uint64
}

// Metrics returns a description of every counter, always in the same order. Adapters for metrics
// systems iterate over it.
func Metrics() []Metric {
	return []Metric{
		{"steps", "Events delivered to the machine", false, func(c *Counters) uint64 { return c.Steps }},
		{"commands", "Steps that were commands of the program", false, func(c *Counters) uint64 { return c.Commands }},
		{"timeouts", "Steps that were expiries of timers", false, func(c *Counters) uint64 { return c.Timeouts }},
		{"ignored", "Events that the state ignores", false, func(c *Counters) uint64 { return c.Ignored }},
		{"deferred", "Messages deferred", false, func(c *Counters) uint64 { return c.Deferred }},
		{"refused", "Events refused, commands included", false, func(c *Counters) uint64 { return c.Refused }},
		{"malformed", "Frames that could not be decoded", false, func(c *Counters) uint64 { return c.Malformed }},
		{"frames_in", "Frames received", false, func(c *Counters) uint64 { return c.FramesIn }},
		{"frames_out", "Frames sent", false, func(c *Counters) uint64 { return c.FramesOut }},
		{"bytes_in", "Bytes of the frames received", false, func(c *Counters) uint64 { return c.BytesIn }},
		{"bytes_out", "Bytes of the frames sent", false, func(c *Counters) uint64 { return c.BytesOut }},
		{"sends_dropped", "Frames for peers without a link, or that have no encoding", false,
			func(c *Counters) uint64 { return c.SendsDropped }},
		{"deferred_dropped", "Deferred messages given up because their link is gone, or more than the " +
			"specification allows", false, func(c *Counters) uint64 { return c.DeferredDropped }},
		{"reports", "Reports to the program", false, func(c *Counters) uint64 { return c.Reports }},
		{"links_up", "Links that came up", false, func(c *Counters) uint64 { return c.LinksUp }},
		{"links_lost", "Links that were lost", false, func(c *Counters) uint64 { return c.LinksLost }},
		{"silent", "Links closed because their peer was silent", false, func(c *Counters) uint64 { return c.Silent }},
		{"throttled", "Times a peer was not read from because it sent too many frames", false,
			func(c *Counters) uint64 { return c.Throttled }},
		{"mailbox_high", "Most items that ever waited in the mailbox", true,
			func(c *Counters) uint64 { return c.MailboxHigh }},
		{"mailbox_full", "Items that found no room in the mailbox", false,
			func(c *Counters) uint64 { return c.MailboxFull }},
		{"trace_failures", "Recorders that have failed", false, func(c *Counters) uint64 { return c.TraceFailures }},
	}
}

// Latest is an [Observer] that keeps the counters for readers in other goroutines. Adapters for
// metrics systems are built around it. The zero value is ready for use by one driver. It must not
// be copied.
type Latest struct {
	mu       sync.Mutex // held for copying only
	counters Counters
}

// Observe implements Observer.
func (l *Latest) Observe(c *Counters) {
	l.mu.Lock()
	l.counters = *c
	l.mu.Unlock()
}

// Counters returns the totals as of the driver's last batch of steps.
func (l *Latest) Counters() Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counters
}

// published are the counters as others may read them.
type published struct {
	mu       sync.Mutex
	counters Counters
}

func (p *published) get() Counters {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counters
}

// put shows counters, to an observer too if there is one and they have changed.
func (p *published) put(c *Counters, o Observer) {
	p.mu.Lock()
	changed := p.counters != *c
	if changed {
		p.counters = *c
	}
	p.mu.Unlock()
	if changed && o != nil {
		o.Observe(c)
	}
}
