package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/fsm"
)

// toy is a machine for tests: what each state does with each event. An event is named as by
// eventText; a reaction is words: `ignore`, `defer`, `goto X`, `send M 1`, `all M` (to everyone),
// `close 1`, `arm 0 5`, `stop 0`.
type toy map[string]map[string]string

func eventText(ev Event[string]) string {
	switch ev.Kind {
	case Message, Command:
		return ev.Message
	case Timeout:
		return fmt.Sprintf("timer%d", ev.Timer)
	}
	return ev.Kind.String()
}

func (y toy) Step(v string, ev Event[string]) Outcome[string, string] {
	does, ok := y[v][eventText(ev)]
	switch {
	case !ok && (ev.Kind == Message || ev.Kind == Command || ev.Kind == Timeout):
		return Outcome[string, string]{Code: fsm.Refused, Fault: v + " does not mention " + eventText(ev)}
	case !ok || does == "ignore":
		return Outcome[string, string]{Code: fsm.Ignored, Value: v}
	}
	out := Outcome[string, string]{Code: fsm.Took, Value: v}
	var text string
	var a, b int
	for _, word := range strings.Split(does, ", ") {
		var f Effect[string]
		switch verb, rest, _ := strings.Cut(word, " "); verb {
		case "goto":
			out.Value = rest
			continue
		case "send":
			fmt.Sscan(rest, &text, &a)
			f = Effect[string]{Kind: fsm.Send, To: a, Message: text}
		case "all":
			f = Effect[string]{Kind: fsm.Send, To: Everyone, Message: rest}
		case "close":
			fmt.Sscan(rest, &a)
			f = Effect[string]{Kind: fsm.Close, To: a}
		case "arm":
			fmt.Sscan(rest, &a, &b)
			f = Effect[string]{Kind: fsm.StartTimer, Timer: a, Ticks: int64(b)}
		case "stop":
			fmt.Sscan(rest, &a)
			f = Effect[string]{Kind: fsm.StopTimer, Timer: a}
		default:
			continue
		}
		out.Effects = append(out.Effects, f)
	}
	return out
}

func (y toy) Defers(v, m string) bool    { return y[v][m] == "defer" }
func (y toy) Final(v string) bool        { return strings.HasPrefix(v, "end") }
func (y toy) Crashed(_, v string) string { return v }
func (y toy) Restarted(string) string    { return "s" }
func (y toy) New() string                { return "s" }
func (y toy) Commands(v string) (l []string) {
	for ev := range y[v] {
		if strings.ToLower(ev) == ev && !slices.Contains(eventNames[:], ev) && !strings.HasPrefix(ev, "timer") {
			l = append(l, ev)
		}
	}
	slices.Sort(l)
	return l
}

// pair are the rules of machines 0 and 1 with a channel each way and a link, and a timer each.
func pair() *Rules {
	return &Rules{Instances: 2, Deferred: []int{2, 2}, Timers: []int{1, 1},
		Channels: []Channel{{From: 0, To: 1, Capacity: 2}, {From: 1, To: 0, Capacity: 2}},
		Links:    []Link{{A: 0, B: 1, Untold: [2]bool{true, true}}}}
}

// told is pair with a link whose ends are told that it comes up.
func told() *Rules {
	r := pair()
	r.Links[0].Untold = [2]bool{}
	return r
}

func with(r *Rules, change func(r *Rules)) *Rules {
	change(r)
	return r
}

// but returns a maker of rules that are those of another but for a change.
func but(rules func() *Rules, change func(*Rules)) func() *Rules {
	return func() *Rules { return with(rules(), change) }
}

type move = Move[string]

// parse reads a move: `start 0`, `offer 1`, `up 0`, `lost 0`, `expire 0`, `crash 0`, `restart 0`,
// `beat 0`, `1 go` (a command), `0>1` (deliver, `0>1 at 2`), `copy 0>1`, `lose 0>1`, `overtake
// 0>1`, `tail 0>1`, `swallow 0>1`, `forge 0 A` (from 1), `hangup 0`, `malformed 0`, `partition 2`, `heal`, `cutoff
// 0`, `come 0`, `go 0`, `tick`, or any of them torn: `torn1 0 go`.
func parse(t *testing.T, r *Rules, text string) move {
	t.Helper()
	words := strings.Fields(text)
	var torn int
	if n, _ := fmt.Sscanf(words[0], "torn%d", &torn); n == 1 {
		mv := parse(t, r, strings.Join(words[1:], " "))
		mv.Torn = torn + 1
		return mv
	}
	if k := slices.Index(moveNames[:], words[0]); k >= 0 {
		mv := move{Kind: MoveKind(k)}
		if len(words) > 1 {
			fmt.Sscan(words[1], &mv.Who)
			mv.Set = uint64(mv.Who)
		}
		if len(words) > 2 {
			mv.Message = words[2]
		}
		mv.Peer = 1 - mv.Who
		if mv.Kind >= MoveDeliver && mv.Kind <= MoveSwallow {
			fmt.Sscanf(words[1], "%d>%d", &mv.Who, &mv.Peer)
			mv.Channel = r.Channel(mv.Who, mv.Peer, 0)
		}
		return mv
	}
	var from, to, at int
	if n, _ := fmt.Sscanf(words[0], "%d>%d", &from, &to); n == 2 {
		if len(words) == 3 {
			fmt.Sscan(words[2], &at)
		}
		return move{Kind: MoveDeliver, Channel: r.Channel(from, to, 0), At: at}
	}
	fmt.Sscan(words[0], &from)
	return move{Kind: MoveCommand, Who: from, Message: words[1]}
}

// run takes moves, separated by `; `, and tells the configuration afterwards, or what was wrong.
func run(t *testing.T, r *Rules, a, b toy, moves string) string {
	t.Helper()
	w := &World[string, string]{Rules: r, Machines: []Machine[string, string]{a, b}}
	c := w.Begin([]string{"s", "s"})
	begin := "start 0; start 1; "
	switch {
	case r.IsHostile(1):
		begin = "start 0; "
	case r.comes(0):
		begin = "start 1; "
	}
	for _, text := range strings.Split(begin+moves, "; ") {
		taken, err := w.Do(c, parse(t, r, text))
		if err != nil {
			return text + ": not possible"
		}
		if taken.Fault != NoFault {
			return text + ": " + taken.Fault.String()
		}
		c = taken.Next
	}
	return tell(c)
}

func tell(c *Configuration[string, string]) string {
	var b strings.Builder
	for i, e := range c.Ends {
		fmt.Fprintf(&b, "%s ", c.Values[i])
		if e.Down {
			b.WriteString("down ")
		}
		for _, h := range e.Held {
			fmt.Fprintf(&b, "(%s) ", h.Message)
		}
		if len(e.Left) > 0 && e.Left[0].Runs() {
			fmt.Fprintf(&b, "in %d", e.Left[0].Least)
			if e.Left[0].Most > e.Left[0].Least {
				fmt.Fprintf(&b, "..%d", e.Left[0].Most)
			}
			b.WriteByte(' ')
		}
	}
	for k, q := range c.Queues {
		b.WriteString([]string{"| ", "/ "}[k])
		for _, x := range q {
			b.WriteString(x.News.String() + x.Message + " ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// sender sends A, B, C on the commands a, b, c, and hears what comes.
var sender = toy{"s": {"a": "send A 1", "b": "send B 1", "c": "send C 1", "X": "ignore", "lost": "goto lost",
	"shut": "close 1, goto shut"},
	"shut": {"X": "goto heard", "lost": "goto told", "again": "send A 1"}, "lost": {"a": "send A 1"}}

// keeper defers A until it has heard B, and answers it with X.
var keeper = toy{"s": {"A": "defer", "B": "goto open", "C": "ignore", "x": "send X 0", "lost": "goto lost",
	"arm": "arm 0 5", "timer0": "goto rang"},
	"open": {"A": "goto s, send X 0", "B": "ignore", "x": "send X 0", "C": "ignore"}, "rang": {"A": "ignore"},
	"lost": {"A": "goto bad", "B": "goto bad"}}

// TestDifferences states each of the differences of decisions/0011, and that the old meaning, where
// one can be planted, is another one.
func TestDifferences(t *testing.T) {
	timed := func(delay int) func(r *Rules) { return func(r *Rules) { r.Time = &Time{Beat: 5, Delay: delay} } }
	drifts := func(drift ...int) func() *Rules {
		return but(pair, func(r *Rules) { r.Time = &Time{Beat: 5, Delay: 1, Drift: drift} })
	}
	beat := "; tick; beat 0; beat 1"
	ringer := toy{"s": {"arm": "arm 0 5", "w": "goto w"}, "w": {"timer0": "ignore", "go": "goto x"},
		"x": {"timer0": "goto done"}}
	upper := toy{"s": {"go": "goto t", "up": "goto u", "a": "send A 1", "A": "ignore"},
		"t": {"up": "goto bad", "A": "ignore"}, "u": {"A": "ignore"}}
	plain := toy{"s": {"A": "ignore", "X": "ignore", "up": "goto up", "lost": "goto lost", "x": "send X 0"},
		"up":   {"A": "ignore", "X": "ignore", "x": "send X 0", "lost": "goto lost"},
		"lost": {"A": "ignore", "x": "send X 0"}}
	again := func() *Rules {
		return with(told(), func(r *Rules) { r.Faults.Crash, r.Faults.Restart = []int{1, 0}, []int{1, 0} })
	}
	closer := toy{"s": {"shut": "close 1, goto shut", "all": "all A"}, "shut": {"up": "goto bad"}}
	timer := toy{"s": {"seven": "arm 0 7", "ten": "arm 0 10", "timer0": "goto rang"}}
	back := toy{"s": {"lost": "goto l"}, "l": {"up": "goto u", "A": "goto v"}, "u": {"lost": "goto l"}}
	hostile := but(pair, func(r *Rules) { r.Hostile = 2 })
	visits := but(told, func(r *Rules) { r.Come, r.Faults.Restart = []int{2, 0}, []int{2, 0} })
	visitor := toy{"s": {"a": "send A 1", "over": "goto end", "X": "goto heard"}, "end": {"X": "ignore"}}
	strict := toy{"s": {"A": "goto t", "a": "send A 1", "lost": "goto lost"},
		"t": {"A": "ignore", "lost": "goto lost"}, "lost": {"A": "goto bad", "B": "goto back"}}
	for _, x := range []struct {
		name  string
		rules func() *Rules
		a, b  toy
		moves string
		want  string
		plant Plant
	}{
		{"D1 set aside, and the next one is delivered", pair, sender, keeper, "0 a; 0 c; 0>1; 0>1",
			"s s (A) | /", DeferBlocks},
		{"D1 not dropped", pair, sender, keeper, "0 a; 0>1", "s s (A) | /", DeferDrops},
		{"D1 offered after a change of state", pair, sender, keeper, "0 a; 0>1; 0 b; 0>1; offer 1", "s s | / X",
			DeferDrops},
		{"D1 not before", pair, sender, keeper, "0 a; 0>1; offer 1", "offer 1: not possible", 0},
		{"D1 and before anything new", pair, sender, keeper, "0 a; 0>1; 0 b; 0>1; 0 c; 0>1", "0>1: not possible", 0},
		{"D1 nor is a command possible", pair, sender, keeper, "0 a; 0>1; 0 b; 0>1; 1 x", "1 x: not possible", 0},
		{"D1 deferred again where the state is so", pair, sender, keeper,
			"0 a; 0>1; 0 a; 0>1; 0 b; 0>1; offer 1", "s s (A) | / X", DeferBlocks},
		{"D1 one more than the bound", pair, sender, keeper, "0 a; 0>1; 0 a; 0>1; 0 a; 0>1",
			"0>1: deferred-overflow", DeferDrops},
		{"D1 oldest first", pair, sender, toy{"s": {"A": "defer", "B": "defer", "C": "goto t"},
			"t": {"A": "goto first", "B": "goto wrong"}, "first": {"B": "goto second"}},
			"0 a; 0>1; 0 b; 0>1; 0 c; 0>1; offer 1; offer 1", "s second | /", OfferNewest},
		{"D2 an ignored timer has expired", pair, ringer, plain, "0 arm; 0 w; expire 0; 0 go; expire 0",
			"expire 0: not possible", IgnoredStaysArmed},
		{"D3 who closes hears nothing more", pair, sender, plain, "1 x; 0 shut; 1>0; 0>1", "shut lost | /",
			CloserHears},
		{"D3 nor that the other has heard it", pair, sender, plain, "0 shut; 0>1; 1>0", "1>0: not possible",
			CloserHears},
		{"D4 up comes in any state", told, upper, plain, "0 go; up 0", "bad s | /", NeverTold},
		{"D4 once", told, upper, plain, "up 0; up 0", "up 0: not possible", 0},
		{"D4 before the first message", told, upper, plain, "1 x; 1>0", "1>0: not possible", NeverTold},
		{"D5 what is sent before arrives", told, upper, plain, "0 a; up 1; 0>1", "s up | /", SendNeedsUp},
		{"D5 but not over a link that comes later", but(told, func(r *Rules) { r.Links[0].Late = true }), upper,
			plain, "0 a", "0 a: no link", 0},
		{"D6 news takes no room", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Restart = []int{1, 0}, []int{1, 0} })
		},
			sender, plain, "0 a; crash 0; restart 0; start 0; 0 a", "s s | A cut ask A /", NewsTakesRoom},
		{"D6 and messages have the capacity", but(pair, func(r *Rules) { r.Faults.Crash = []int{1, 0} }),
			sender, plain, "0 a; 0 a; 0 a", "0 a: overflow", 0},
		{"C1 nobody is there at first", visits, visitor, plain, "0 a", "0 a: not possible", 0},
		{"C1 and what is sent there is gone", visits, visitor, plain, "1 x", "s down s | /", 0},
		{"C1 nor does anybody begin again there", visits, visitor, plain, "restart 0", "restart 0: not possible", 0},
		{"C2 who comes is heard of", visits, visitor, plain, "come 0; start 0; 0>1", "s up | / answer", 0},
		{"C2 and has its links as at the beginning", visits, visitor, plain,
			"come 0; start 0; 0>1; 1>0; up 0; 0 a; 1 x; 0>1; 1>0", "heard up | /", 0},
		{"C3 who has ended goes", visits, visitor, plain, "come 0; start 0; 0>1; 0 a; 0 over; go 0; 0>1; 0>1",
			"s down lost | / answer", GoneStays},
		{"C3 and nobody else", visits, visitor, plain, "come 0; start 0; go 0", "go 0: not possible", 0},
		{"C3 nor where nobody comes", told, visitor, plain, "0 over; go 0", "go 0: not possible", 0},
		{"C4 nothing is left of who goes", visits, visitor, plain, "come 0; start 0; 0 over; go 0",
			"s down s | ask cut /", ComerRemembers},
		{"C5 the next one hears nothing that was sent to the one before", visits, visitor, plain,
			"come 0; start 0; 0>1; 1 x; 0 over; go 0; come 0; start 0; 0>1; 0>1; 1>0; 1>0; 1>0; up 0", "s lost | /",
			OldIsHeard},
		{"C5 but where there is no link", but(visits, func(r *Rules) { r.Links = nil }), visitor, plain,
			"come 0; start 0; 1 x; 0 over; go 0; come 0; start 0; 1>0", "heard s | /", 0},
		{"C6 no more come than may", visits, visitor, plain,
			"come 0; start 0; 0 over; go 0; come 0; start 0; 0 over; go 0; come 0", "come 0: not possible", 0},
		{"C6 one at a time", visits, visitor, plain, "come 0; come 0", "come 0: not possible", 0},
		{"C7 another one may come where one has crashed", but(visits, func(r *Rules) { r.Faults.Crash = []int{1, 0} }),
			visitor, plain, "come 0; start 0; crash 0; come 0; start 0; 0>1; 0>1; 0>1", "s lost | / answer answer", 0},
		{"H1 a hostile instance sends at any moment", hostile, strict, nil, "forge 0 A; forge 0 A", "t s | /", 0},
		{"H1 behind the news that the link is up",
			but(hostile, func(r *Rules) { r.Links[0].Untold = [2]bool{} }), strict, nil, "forge 0 A",
			"forge 0 A: not possible", 0},
		{"H2 what is refused closes the link", hostile, strict, nil, "forge 0 X", "lost s | /", RefusalIsDropped},
		{"H2 and nothing is heard of it then", hostile, strict, nil, "forge 0 X; forge 0 A", "lost s | /",
			RefusalIsDropped},
		{"H2 where there is no link it is dropped", but(hostile, func(r *Rules) { r.Links = nil }), strict, nil,
			"forge 0 X; forge 0 A", "t s | /", 0},
		{"H2 so does what finds no room among the held", hostile, keeper, nil,
			"forge 0 A; forge 0 A; forge 0 A", "lost s | /", RefusalIsDropped},
		{"H2 and what is held and refused later", hostile,
			toy{"s": {"A": "defer", "B": "goto t"}, "t": {"lost": "goto lost"}}, nil,
			"forge 0 A; forge 0 B; offer 0", "lost s | /", RefusalIsDropped},
		{"H3 it may close", hostile, strict, nil, "hangup 0; forge 0 A", "lost s | /", 0},
		{"H3 datagrams have no end", but(hostile, func(r *Rules) { r.Links[0].Datagrams = true }), strict, nil,
			"hangup 0", "hangup 0: not possible", 0},
		{"H4 what is no message closes the link, too", func() *Rules {
			return with(hostile(), func(r *Rules) { r.Links[0].Datagrams, r.Malformed = true, 2 })
		}, strict, nil, "malformed 0; forge 0 A", "lost s | /", 0},
		{"H4 if it sends such", hostile, strict, nil, "malformed 0", "malformed 0: not possible", 0},
		{"H5 what is sent to it is gone", hostile, strict, nil, "0 a; 0 a; 0 a", "s s | /", 0},
		{"H5 it has no machine", hostile, strict, strict, "1 a", "1 a: not possible", 0},
		{"H6 its link comes back where links do", func() *Rules {
			return with(hostile(), func(r *Rules) { r.Faults.Break, r.Faults.Return = 1, 1 })
		}, strict, nil, "hangup 0; return 0; forge 0 B", "back s | /", 0},
		{"H6 and where the other end begins anew", func() *Rules {
			return with(hostile(), func(r *Rules) { r.Faults.Crash, r.Faults.Restart = []int{1, 0}, []int{1, 0} })
		}, strict, nil, "forge 0 A; crash 0; restart 0; start 0; forge 0 A", "t s | /", 0},
		{"D7 lost is heard while a message is held, which is discarded",
			but(pair, func(r *Rules) { r.Faults.Break = 1 }),
			sender, keeper, "0 a; 0>1; lost 1", "s lost | / reset", LostWaits},
		{"D7 behind a close too", pair, sender, keeper, "0 a; 0>1; 0 shut; 0>1", "shut lost | /", LostWaits},
		{"D8 held messages do not hold time up", but(pair, timed(1)), sender, keeper,
			"1 arm; 0 a; 0>1; tick; beat 1; expire 1", "s rang (A) | /", HeldStopsTime},
		{"D8 what is under way does", but(pair, timed(1)), sender, keeper, "0 a; tick; beat 1",
			"beat 1: not possible", 0},
		{"T1 a length between two beats may be the one before", but(pair, timed(1)), timer, plain,
			"0 seven" + beat + "; expire 0", "rang s | /", RoundsUp},
		{"T1 or the one behind", but(pair, timed(1)), timer, plain, "0 seven" + beat + beat + "; expire 0",
			"rang s | /", 0},
		{"T1 and no later", but(pair, timed(1)), timer, plain, "0 seven" + beat + beat + "; tick; beat 0",
			"beat 0: not possible", 0},
		{"T1 a whole number of beats is that", but(pair, timed(1)), timer, plain, "0 ten" + beat, "s in 1 s | /", 0},
		{"T2 a fast clock", drifts(200_000, 0), timer, plain, "0 ten" + beat + "; expire 0", "rang s | /", RoundsUp},
		{"T2 a slow one", drifts(200_000, 0), timer, plain, "0 ten" + beat + beat, "s in 0..1 s | /", RoundsUp},
		{"T2 no slower", drifts(200_000, 0), timer, plain, "0 ten" + beat + beat + beat + "; tick; beat 0",
			"beat 0: not possible", 0},
		{"T2 the other's goes right", drifts(0, 200_000), timer, plain, "0 ten" + beat, "s in 1 s | /", 0},
		{"F5 but not what a partition holds up", func() *Rules {
			return with(with(pair(), timed(1)), func(r *Rules) { r.Faults.Partition = 1 })
		}, sender, keeper, "0 a; tick; partition 2; cutoff 1; beat 1", "s s | A /", 0},
		{"F5 of datagrams it holds up nothing", func() *Rules {
			return with(with(pair(), timed(1)), func(r *Rules) { r.Faults.Partition, r.Links = 1, nil })
		}, sender, keeper, "0 a; tick; partition 2; cutoff 1; beat 1", "beat 1: not possible", 0},
		{"D8 with a delay of two not at once", but(pair, timed(2)), sender, keeper,
			"0 a; tick; beat 1; beat 0; tick; beat 1", "beat 1: not possible", 0},
		{"D9 held messages take no room", pair, sender, keeper, "0 a; 0>1; 0 a; 0 a", "s s (A) | A A /", HeldTakesRoom},
		{"D10 a break loses what is under way", but(pair, func(r *Rules) { r.Faults.Break = 1 }),
			sender, keeper, "0 b; 0 a; 0>1; lost 1; 0>1", "s open | / reset", 0},
		{"D10 the other end hears of it behind what survives", but(pair, func(r *Rules) { r.Faults.Break = 1 }),
			sender, keeper, "0 b; 0 a; lost 0; 0>1; tail 0>1; 0>1", "lost open | /", 0},
		{"D10 once", but(pair, func(r *Rules) { r.Faults.Break = 1 }),
			sender, plain, "lost 0; lost 1", "lost 1: not possible", 0},
		{"D10 for good, if it may not come back", but(pair, func(r *Rules) { r.Faults.Break = 1 }),
			sender, plain, "lost 0; return 0", "return 0: not possible", 0},
		{"F1 a link comes back, without what was sent before", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Break, r.Faults.Return, r.Channels[0].Capacity = 1, 1, 4 })
		},
			toy{"s": {"a": "send A 1", "lost": "goto l"}, "l": {"up": "goto u", "a": "send A 1"},
				"u": {"a": "send B 1"}},
			toy{"s": {"lost": "goto l"}, "l": {"up": "goto u"}, "u": {"B": "goto v"}},
			"up 0; up 1; 0 a; lost 1; 1>0; 0 a; return 0; 0>1; 0>1; 1>0; up 0; 0 a; 0>1", "u v | /", LostComesBack},
		{"F1 an end that was wanted while it wanted", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Break, r.Faults.Return = 1, 2 })
		}, back, back, "up 0; up 1; lost 0; 0>1; return 0; return 1; 0>1; 1>0; up 0; up 1; 0>1; 1>0", "u u | /", 0},
		{"F1 a link that came back may break again", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Break, r.Faults.Return = 2, 2 })
		}, back, back,
			"up 0; up 1; lost 1; 1>0; return 1; 1>0; lost 0; 0>1; up 1; 0>1; return 1; 1>0; 0>1; up 1",
			"u u | /", 0},
		{"F1 who has closed is asked by one that had lost the link before", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Break, r.Faults.Return = 1, 1 })
		}, back, toy{"s": {"shut": "close 0, goto closed"}, "closed": {"up": "goto open"}},
			"up 0; up 1; lost 0; 1 shut; return 0; 0>1; 0>1; 1>0; 1>0; up 0", "u open | /", 0},
		{"F1 who has heard of the close cannot ask", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Break, r.Faults.Return = 1, 1 })
		}, back, toy{"s": {"shut": "close 0, goto closed"}, "closed": {"up": "goto open"}},
			"up 0; up 1; 1 shut; 1>0; return 0", "return 0: not possible", 0},
		{"F2 a crash in the course of a step", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{1, 0}, true })
		}, toy{"s": {"two": "send A 1, send B 1, goto t"}}, plain, "torn1 0 two", "t down s | A reset /", TornIsWhole},
		{"F2 before anything is sent", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{1, 0}, true })
		}, toy{"s": {"two": "send A 1, send B 1, goto t"}}, plain, "torn0 0 two", "t down s | reset /", 0},
		{"F2 not where steps are whole", but(pair, func(r *Rules) { r.Faults.Crash = []int{1, 0} }),
			toy{"s": {"two": "send A 1, send B 1, goto t"}}, plain, "torn1 0 two", "torn1 0 two: not possible", 0},
		{"F2 not without a crash left", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{0, 1}, true })
		}, toy{"s": {"two": "send A 1, send B 1, goto t"}}, plain, "torn1 0 two", "torn1 0 two: not possible", 0},
		{"F2 the close of a torn step is a reset", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{1, 0}, true })
		}, toy{"s": {"end": "send A 1, close 1, goto t"}}, plain, "torn1 0 end", "t down s | A reset /", 0},
		{"F2 a link taken for dead is dead, too", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn, r.Faults.Break = []int{1, 0}, true, 1 })
		}, plain, plain, "torn0 lost 0; 0>1", "lost down lost | /", 0},
		{"F2 who asked for a link hears that nobody is there", func() *Rules {
			return with(told(), func(r *Rules) {
				r.Faults.Crash, r.Faults.Torn, r.Faults.Break, r.Faults.Return = []int{1, 0}, true, 1, 1
			})
		}, back, back, "up 0; up 1; lost 1; 1>0; return 1; torn0 1>0; 0>1; up 1; 0>1", "u down l | /", 0},
		{"F3 what was sent last is lost with its sender", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{1, 0}, true })
		}, sender, plain, "0 a; 0 b; crash 0; tail 0>1", "s down s | A reset /", TailStays},
		{"F3 also where a number of others may be lost", func() *Rules {
			return with(pair(), func(r *Rules) {
				r.Faults.Crash, r.Faults.Torn, r.Links = []int{1, 0}, true, nil
				r.Faults.Lose, r.Channels[0].Lossy = 1, true
			})
		}, sender, plain, "0 a; 0 b; crash 0; tail 0>1", "s down s | A reset /", TailStays},
		{"F3 also if it had closed the link", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{1, 0}, true })
		}, sender, plain, "0 a; 0 shut; crash 0; tail 0>1", "shut down s | cut reset /", 0},
		{"F3 not what was sent before it", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn = []int{1, 0}, true })
		}, sender, plain, "0 a; 0 b; tail 0>1", "tail 0>1: not possible", 0},
		{"F3 datagrams too", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Crash, r.Faults.Torn, r.Links = []int{1, 0}, true, nil })
		}, sender, plain, "0 a; crash 0; tail 0>1; 0>1", "s down s | /", 0},
		{"F4 silence is no death: datagrams", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Break, r.Faults.Return, r.Links[0].Datagrams = 1, 1, true })
		}, sender, back, "0 a; lost 1; 0>1; 0 a; return 1; 0>1", "s v | /", 0},
		{"F5 datagrams to the other side of a partition are gone", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links = 1, nil })
		}, sender, plain, "partition 2; cutoff 0; 0 a; heal; cutoff 0; 0 b", "s s | B /", PartitionLeaks},
		{"F5 each instance is cut off at a moment of its own", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links = 1, nil })
		}, sender, plain, "partition 2; 0 a; cutoff 0; 0 b", "s s | A /", 0},
		{"F5 a partition takes datagrams that are under way", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links = 1, nil })
		}, sender, plain, "0 a; 0 b; partition 2; cutoff 1; swallow 0>1; heal; cutoff 1", "s s | B /", PartitionSpares},
		{"F5 or lets them arrive", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links = 1, nil })
		}, sender, keeper, "0 a; partition 2; cutoff 1; 0>1", "s s (A) | /", 0},
		{"F5 not before it has reached the receiver", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links = 1, nil })
		}, sender, plain, "0 a; partition 2; cutoff 0; swallow 0>1", "swallow 0>1: not possible", 0},
		{"F5 nor what is in a link", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition = 1 })
		}, sender, plain, "0 a; partition 2; cutoff 1; swallow 0>1", "swallow 0>1: not possible", 0},
		{"F5 but over a link of datagrams", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links[0].Datagrams = 1, true })
		}, sender, plain, "0 a; partition 2; cutoff 1; swallow 0>1", "s s | /", PartitionSpares},
		{"F5 there is one at a time", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Links = 2, nil })
		}, sender, plain, "partition 2; partition 2", "partition 2: not possible", 0},
		{"F5 links may break in it, and come back after it", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Partition, r.Faults.Return = 1, -1 })
		}, back, back, "up 0; up 1; partition 2; cutoff 0; cutoff 1; lost 0; 0>1; heal; " +
			"cutoff 0; cutoff 1; return 0; 0>1; 1>0; up 0", "u u | /", 0},
		{"F5 not before it is over", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Partition, r.Faults.Return = 1, -1 })
		}, back, back, "up 0; up 1; partition 2; cutoff 0; lost 0; return 0", "return 0: not possible", 0},
		{"F5 without a partition they may not", func() *Rules {
			return with(pair(), func(r *Rules) { r.Faults.Partition, r.Faults.Return = 1, -1 })
		}, plain, plain, "partition 2; lost 0", "lost 0: not possible", 0},
		{"D11 a crash stops timers and discards what is held",
			but(pair, func(r *Rules) { r.Faults.Crash = []int{0, 1} }),
			sender, keeper, "1 arm; 0 a; 0>1; crash 1; 1>0", "lost s down | /", DeferBlocks},
		{"D12 what is sent to who is gone is gone", but(pair, func(r *Rules) { r.Faults.Crash = []int{0, 1} }),
			sender, keeper, "crash 1; 1>0; 0 a", "lost s down | /", 0},
		{"D12 also by who has closed", pair, sender, plain, "0 shut; 0 again", "shut s | cut /", CloserHears},
		{"D13 a copy comes before what is younger", func() *Rules {
			return with(pair(), func(r *Rules) { r.Channels[0].Duplicates = true; r.Faults.Duplicate = 1 })
		}, sender, keeper, "0 a; 0 c; copy 0>1; 0>1; 0>1", "s s (A) (A) | /", 0},
		{"D14 a step that has to wait for room is not possible",
			but(pair, func(r *Rules) { r.Channels[0].Full = FullWait }),
			sender, plain, "0 a; 0 a; 0 a", "0 a: not possible", 0},
		{"D14 where full channels lose, the message is lost",
			but(pair, func(r *Rules) { r.Channels[0].Full = FullLose }),
			sender, plain, "0 a; 0 b; 0 c", "s s | A B /", 0},
		{"D15 a timer that does not run does not expire", pair, ringer, plain, "expire 0", "expire 0: not possible", 0},
		{"D15 a message that was not sent does not arrive", pair, sender, plain, "0>1", "0>1: not possible", 0},
		{"D15 a refused message is a fault", pair, sender, plain, "0 b; 0>1", "0>1: refused", 0},
		{"D16 after a restart a link comes up again, and what is old is not heard", func() *Rules {
			return with(told(), func(r *Rules) { r.Faults.Crash, r.Faults.Restart = []int{1, 0}, []int{1, 0} })
		}, plain, plain, "up 0; up 1; crash 0; restart 0; start 0; up 0; 0>1; 0>1; 1>0", "up lost | /", NeverTold},
		{"what begins anew is told that its links are up as at the beginning", again, plain, plain,
			"crash 0; restart 0; start 0; up 0; up 0", "up 0: not possible", 0},
		{"and what it sends before arrives behind the news", again, upper, plain,
			"crash 0; restart 0; start 0; 0 a; up 1; 0>1; 0>1; 0>1", "s lost | / answer", SendNeedsUp},
		{"but not over a link that comes later", but(again, func(r *Rules) { r.Links[0].Late = true }),
			upper, plain, "up 0; up 1; crash 0; restart 0; start 0; 0 a", "0 a: no link", 0},
		{"what was sent to the one before is dropped, also before it is told", again, plain, plain,
			"up 1; 1 x; crash 0; restart 0; start 0; 1>0", "s up | cut ask /", OldIsHeard},
		{"takes room until then", again, plain, plain, "1 x; 1 x; crash 0; restart 0; start 0; 1 x",
			"1 x: overflow", 0},
		{"and is dropped at any moment", again, plain, plain,
			"1 x; 1 x; crash 0; restart 0; 1>0; 1 x; 1>0; 1 x", "s s | cut ask / X X", 0},
		{"what is sent after the answer is heard", again, plain, plain,
			"up 1; 1 x; crash 0; restart 0; start 0; 0>1; 0>1; 1 x; 1>0; 1>0; up 0; 1>0", "up lost | /", 0},
		{"who is down answers that it is gone", but(again, func(r *Rules) { r.Faults.Crash = []int{1, 1} }),
			plain, plain, "crash 0; crash 1; restart 0; start 0; 0>1; 0>1; up 0; 1>0; 1>0; 1>0", "lost s down | /", 0},
		{"who closes before the link is up hears nothing of it", told, closer, plain, "0 shut; up 0",
			"up 0: not possible", 0},
		{"and closes no link that comes later", but(told, func(r *Rules) { r.Links[0].Late = true }), closer,
			plain, "0 shut", "0 shut: no link", ClosesWhatIsMissing},
		{"what is for everyone passes over who has no link yet",
			but(told, func(r *Rules) { r.Links[0].Late = true }), closer, plain, "0 all", "s s | /", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := run(t, x.rules(), x.a, x.b, x.moves); got != x.want {
				t.Errorf("%s\ngot  %s\nwant %s", x.moves, got, x.want)
			}
			if x.plant == 0 {
				return
			}
			if got := run(t, with(x.rules(), func(r *Rules) { r.Plant = x.plant }), x.a, x.b, x.moves); got == x.want {
				t.Errorf("%s\nthe old meaning gives %s as well", x.moves, got)
			}
		})
	}
}

// TestBag looks at a channel that keeps no order: all different messages can be delivered, up to
// news of the link.
func TestBag(t *testing.T) {
	c := &Channel{Order: Any, Capacity: 4, Lossy: true, Duplicates: true}
	var q []Item[string]
	for _, m := range []string{"A", "B", "A"} {
		q, _ = Push(c, q, Item[string]{Message: m})
	}
	q, _ = Push(c, q, Item[string]{News: Cut})
	q, _ = Push(c, q, Item[string]{Message: "C"})
	if got := fmt.Sprint(Heads(c, q)); got != "[0 1]" {
		t.Errorf("heads %s", got)
	}
	if _, full := Push(c, q, Item[string]{Message: "D"}); !full {
		t.Error("four messages are all that there is room for")
	}
	q = Take(Take(Take(q, 0), 0), 0)
	if got := fmt.Sprint(Heads(c, q)); got != "[0]" || Loses(c, q, 0) || Copies(c, q, 0) {
		t.Errorf("heads %s of %v: news is neither lost nor copied", got, q)
	}
}

// TestMoves goes through all configurations of a small world: every move that Moves yields is one
// that Do takes, configurations are not changed, and in a world without faults nothing is left over
// that cannot arrive.
func TestMoves(t *testing.T) {
	r := told()
	r.Faults = Faults{Break: 1, Crash: []int{1, 1}, Restart: []int{1, 0}, CrashAll: 1}
	r.Time = &Time{Beat: 5, Delay: 2}
	a := toy{"s": {"a": "send A 1, goto t", "b": "send B 1"},
		"t": {"X": "goto end", "b": "send B 1, goto u", "lost": "goto end"},
		"u": {"X": "goto end", "lost": "goto end"}, "end": {"X": "ignore"}}
	b := toy{"s": {"A": "defer", "B": "goto open, arm 0 7", "lost": "goto end"},
		"open": {"A": "goto end, send X 0", "B": "ignore", "timer0": "goto end", "lost": "goto end"},
		"end":  {"A": "ignore", "B": "ignore", "timer0": "ignore"}}
	w := &World[string, string]{Rules: r, Machines: []Machine[string, string]{a, b}}
	seen := map[string]bool{}
	key := func(c *Configuration[string, string]) string { return fmt.Sprintf("%+v", *c) }
	queue := []*Configuration[string, string]{w.Begin([]string{"s", "s"})}
	seen[key(queue[0])] = true
	faults := map[FaultKind]bool{}
	for n := 0; len(queue) > 0 && n < 3000; n++ {
		c := queue[0]
		queue = queue[1:]
		before := key(c)
		for mv, taken := range w.Moves(c) {
			if faults[taken.Fault] = true; taken.Fault != NoFault {
				continue
			}
			if again, err := w.Do(c, mv); err != nil || key(again.Next) != key(taken.Next) {
				t.Fatalf("%v is another move the second time: %v", mv, err)
			}
			if k := key(taken.Next); !seen[k] {
				seen[k] = true
				queue = append(queue, taken.Next)
			}
		}
		if key(c) != before {
			t.Fatalf("a move has changed %s", before)
		}
	}
	if len(seen) < 1000 {
		t.Errorf("only %d configurations", len(seen))
	}
	if !faults[NoFault] || !faults[Overflow] {
		t.Errorf("faults met: %v", faults)
	}
}

// TestTwoLinksComeBack: an answer is one to what its sender was asked, whatever others were asked meanwhile.
func TestTwoLinksComeBack(t *testing.T) {
	r := &Rules{Instances: 3, Deferred: make([]int, 3), Timers: make([]int, 3),
		Links:  []Link{{A: 0, B: 1, Untold: [2]bool{true, true}}, {A: 0, B: 2, Untold: [2]bool{true, true}}},
		Faults: Faults{Break: -1, Return: -1}}
	for _, way := range [][2]int{{0, 1}, {0, 2}, {1, 0}, {2, 0}} {
		r.Channels = append(r.Channels, Channel{From: way[0], To: way[1], Capacity: 9})
	}
	any := toy{"s": {"lost": "ignore", "up": "ignore"}}
	w := &World[string, string]{Rules: r, Machines: []Machine[string, string]{any, any, any}}
	c := w.Begin([]string{"s", "s", "s"})
	take := func(moves ...move) {
		for _, mv := range moves {
			x, err := w.Do(c, mv)
			if err != nil || x.Next == nil {
				t.Fatal(mv, err, x.Why)
			}
			c = x.Next
		}
	}
	take(move{Kind: MoveStart, Who: 0}, move{Kind: MoveStart, Who: 1}, move{Kind: MoveStart, Who: 2})
	for _, kind := range []MoveKind{MoveLost, MoveReturn} {
		take(move{Kind: kind, Who: 0, Peer: 1}, move{Kind: kind, Who: 0, Peer: 2})
	}
	for k := range 4 {
		for len(c.Queues[k]) > 0 {
			take(move{Kind: MoveDeliver, Channel: k})
		}
	}
	if c.Ends[0].Asked != 0 || c.Ends[0].Up != 6 {
		t.Errorf("the links to %b are up, and %b have not answered", c.Ends[0].Up, c.Ends[0].Asked)
	}
}

// TestBridge: a partition leaves out who hears both sides.
func TestBridge(t *testing.T) {
	r := &Rules{Instances: 4, Faults: Faults{Partition: 1, Bridge: 1<<0 | 1<<2}}
	if got, want := r.Sides(), []uint64{1 << 3}; !slices.Equal(got, want) {
		t.Errorf("the sides are %b, not %b", got, want)
	}
	for i, want := range []uint64{0, 1 << 3, 0, 1 << 1} {
		for _, side := range []uint64{1 << 1, 1 << 3} {
			if got := r.Away(i, r.Side(side)); got != want {
				t.Errorf("from %d the side %b keeps away %b, not %b", i, side, got, want)
			}
		}
	}
	if r.Faults.Bridge = 0; len(r.Sides()) != 7 || r.Side(1|2) != 4|8 || r.Away(0, 4|8) != 4|8 {
		t.Errorf("without one the sides are %b", r.Sides())
	}
}
