package conform

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/proptest/conform/sample/corners"
	"github.com/parley-go/parley/proptest/conform/sample/nasty"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// nobody carries frames to nobody.
type nobody struct{}

func (nobody) Send(fsm.Peer, []byte) error         { return nil }
func (nobody) Close(fsm.Peer, *driver.Error) error { return nil }

// recorded gives commands to a machine and returns the record and what became of each.
func recorded[R fsm.Runner](r R, commands []func(R) fsm.Result) (record string, errs []error) {
	var out bytes.Buffer
	c := driver.NewCore(r, driver.Options[R]{Trace: []trace.Sink{trace.NewWriter(&out)}}, nobody{})
	c.Start(time.Unix(0, 0))
	for _, f := range commands {
		_, err := c.Command(0, f, true)
		errs = append(errs, err)
	}
	c.End(0, "done")
	return out.String(), errs
}

// checked runs a record again through its specification.
func checked(t *testing.T, spec, record string) *replay.Trace {
	t.Helper()
	r, err := trace.NewReader(strings.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	out, err := replay.Check(load(t, "testdata/"+spec+"/spec.yaml", compile.Options{}), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tried are the commands of a test and how each is refused.
type tried[R fsm.Runner] struct {
	f    func(R) fsm.Result
	want string
}

func testRefused[R fsm.Runner](t *testing.T, spec string, r R, tests []tried[R]) string {
	t.Helper()
	var commands []func(R) fsm.Result
	for _, tt := range tests {
		commands = append(commands, tt.f)
	}
	record, errs := recorded(r, commands)
	for i, tt := range tests {
		if errs[i] == nil || !strings.HasSuffix(errs[i].Error(), tt.want) {
			t.Errorf("command %d: %v\nwant … %s", i, errs[i], tt.want)
		}
	}
	if out := checked(t, spec, record); out.Deviation != nil || out.Unavailable != len(tests) {
		t.Errorf("replay: %d unavailable, %+v\n%s", out.Unavailable, out.Deviation, record)
	}
	return record
}

// TestRefused: the driver says why a command is refused, and its record is a run of the
// specification, values outside their types included.
func TestRefused(t *testing.T) {
	type server = *corners.ServerRunner
	record := testRefused(t, "corners", corners.NewServerRunner(), []tried[server]{
		{func(r server) fsm.Result { return r.Add(5) }, "add{by: 5} is refused: by is outside -4..4"},
		{func(r server) fsm.Result { return r.Pick(corners.Card{Suit: 3, Rank: 2}) },
			"is refused: card is outside Card"},
		{func(r server) fsm.Result { return r.Quiet(0) }, "quiet{seat: 0} is refused: seat is outside 1..3"},
		{func(r server) fsm.Result { return r.Quiet(1) }, "quiet{seat: 1} is refused: the state does not mention it; " +
			"legal here: messages HELLO, DEAL, SUM, NOTE; commands add, pick, loop; timers idle; events start, lost"},
	})
	for from, to := range map[string]string{
		// a value within its range is not refused for it
		"add{by: 5}":                          "add{by: 4}",
		"quiet{seat: 0}":                      "quiet{seat: }",             // no value at all
		"pick{card: {suit: invalid":           "pick{suit: {suit: invalid", // no such field
		"quiet{seat: 0}\",\"code\":\"refused": "quiet{seat: 0}\",\"code\":\"took",
	} {
		if !strings.Contains(record, from) {
			t.Fatalf("no %s in the record", from)
		}
		if out := checked(t, "corners", strings.Replace(record, from, to, 1)); out.Deviation == nil {
			t.Errorf("replay accepts %s", to)
		}
	}
}

// TestRefusedShapes: lists, sets and texts that are too long do not look like shorter ones.
func TestRefusedShapes(t *testing.T) {
	r, err := nasty.NewNastyRunner(0, 0, 0, nasty.Optional[nasty.Peer]{}, nasty.Event{}, nasty.Error{})
	if err != nil {
		t.Fatal(err)
	}
	type runner = *nasty.NastyRunner
	long := nasty.Error{Len: 9, Data: [4]byte{'a', 'b', 'c', 'd'}}
	testRefused(t, "nasty", r, []tried[runner]{
		{func(r runner) fsm.Result { return r.EventCommand(nasty.Event{Len: 3}, 0, 0, 0) },
			"event is outside a list of at most 2 of 0..3"},
		{func(r runner) fsm.Result { return r.ErrorCommand(long, nasty.Error{}, nasty.Error{}) },
			"{error: \"abcd\"..., errors: \"\", er: \"\"} is refused: error is outside text 4"},
		{func(r runner) fsm.Result { return r.ReportCommand(0, 0, 1<<10|2, nasty.Row{}) },
			"countBits is outside the set of 0..9"},
		{func(r runner) fsm.Result { return r.ReportCommand(0, 0, 1<<10, nasty.Row{}) },
			"countBits is outside the set of 0..9"},
		{func(r runner) fsm.Result { return r.ReportCommand(0, 0, 0, nasty.Row{0, 7}) },
			"fitRowToRow is outside an array of 0..4"},
		{func(r runner) fsm.Result { return r.StringCommand(99, nasty.Error{}, nasty.Error{}) },
			"{string: (invalid), stringOf: \"\", errorOf: \"\"} is refused: string is outside type, func, " +
				"len, invalid, string, nil, error, map"},
		{func(r runner) fsm.Result { return r.StringCommand(0, nasty.Error{}, nasty.Error{}) },
			"is refused: no guard holds for it now (switch string at " +
				"proptest/conform/testdata/nasty/spec.yaml:102:17)"},
	})
}
