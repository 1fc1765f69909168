package probe

import "time"

// Options say what is done and for how long.
type Options struct {
	// Check is the check whose instances are played; empty: the first with two instances of which none is hostile, or
	// with more if there is none. Target is the instance, or role, that the program is; empty: one of an external role,
	// else of several the only one of its role, else the second.
	Check, Target string
	// Connections is how many of our instances connect at a time, the first ones of the check; 0: all.
	Connections int
	// Start is a command that starts the program; empty: it runs already. Fresh: it is started anew for each session.
	Start string
	Fresh bool
	// Exact: what the program sends has the values of its machine even if its role is external. Else only the
	// messages' names are compared then, for the specification says of such a role what others rely on.
	Exact bool
	// Names: only the messages' names are compared, whatever the role is.
	Names bool
	// Passive: the program does nothing by itself, so that whatever it sends is an answer.
	Passive bool
	// Datagrams says by channel whether an address without a network is one of UDP. Channels are the addresses of the
	// other channels, by their names, where there are several; the first one has the address of the program.
	Datagrams []bool
	Channels  map[string]string
	// Values are what fields of commands and messages are given, by the fields' names.
	Values map[string][]string
	Seed   uint64
	// Budget is for how long sessions are begun, Sessions how many there are at most, 0 being no bound; and Hostile
	// how many of them are hostile at most: -1 for none, 0 for no bound.
	Budget   time.Duration
	Sessions int
	Hostile  int
	// Patience is how long the program may take for what it owes; 0: a second. Linger is how long it is waited for
	// to do something by itself; 0: a fifth of a second. Ready is within which it listens after it was started; 0: ten
	// seconds.
	Patience, Linger, Ready time.Duration
	// Findings is after how many different ones the search ends; 0: eight.
	Findings int
	// Progress, if set, is told what is done.
	Progress func(sessions int, words string)

	reliable bool
	loose    bool
	grace    time.Duration
}

func (o Options) withDefaults() Options {
	def := func(d *time.Duration, n time.Duration) {
		if *d == 0 {
			*d = n
		}
	}
	def(&o.Patience, time.Second)
	def(&o.Linger, 200*time.Millisecond)
	def(&o.Ready, 10*time.Second)
	def(&o.Budget, time.Minute)
	o.grace = min(o.Patience/50, 10*time.Millisecond)
	if o.Findings == 0 {
		o.Findings = 8
	}
	return o
}
