package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-go/parley/gen/scenario"
)

// game has a channel that keeps everything, and one that keeps nothing.
const game = `protocol: game
channels:
  control: {order: fifo, capacity: 2}
  state: {order: any, lossy: true, duplicates: true, capacity: 2, full: lose}
messages:
  JOIN:
  LEAVE:
  MOVE: {channel: state, fields: {n: 0..3}}
roles:
  player:
    vars: {n: 0..3}
    commands: {join: , move: , leave: }
    initial: outside
    states:
      outside: {join: {send: JOIN, goto: inside}}
      inside:
        move: {when: n < 3, set: {n: n + 1}, send: "MOVE{n}"}
        leave: {send: LEAVE, goto: away}
      away: {final: true}
  host:
    vars: {last: 0..3}
    initial: alone
    states:
      alone: {JOIN: {goto: playing}, defer: [MOVE]}
      playing:
        MOVE: [{when: n > last, set: {last: n}}, {}]
        LEAVE: {goto: over}
      over: {final: true, ignore: [MOVE]}
checks:
  pair: {instances: {p: player, h: host}, quiet: true}
`

// played runs a scenario of the game.
func played(t *testing.T, text string) (blocks []scenario.Block, wrong []scenario.Mismatch, err error) {
	t.Helper()
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(spec, []byte(game), 0o644); err != nil {
		t.Fatal(err)
	}
	if blocks, err = scenario.Parse(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return scenario.Run(blocks, load(spec))
}

// TestChannels: lines say which of several channels they mean, and need not where one alone holds something.
func TestChannels(t *testing.T) {
	for _, head := range []string{"", "check pair exactly\n"} {
		offer := map[bool]string{true: "offer h\n"}[head != ""]
		text := head + `p join
p move
show
deliver p -> h on state
deliver p -> h
` + offer + `----
p: join  outside → inside, send JOIN
p: move  inside, send MOVE{n: 1}
p: inside
h: alone
p -> h (control): JOIN
p -> h (state): MOVE{n: 1}
h: MOVE{n: 1}  deferred in alone
h: JOIN  alone → playing
h: MOVE{n: 1}, deferred before  playing

p move
p move
p leave
copy p -> h on state at 2
drop p -> h on state
show
deliver p -> h on control
deliver p -> h
show
----
p: move  inside, send MOVE{n: 2}
p: move  inside, send MOVE{n: 3}
p: leave  inside → away, send LEAVE
p -> h (state): MOVE{n: 3} stays under way
h: MOVE{n: 3}  playing
p -> h (state): MOVE{n: 2} is lost
p: away
h: playing
p -> h (control): LEAVE
p -> h (state): MOVE{n: 3}
h: LEAVE  playing → over
h: MOVE{n: 3}  ignored in over
p: away
h: over
`
		_, wrong, err := played(t, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			t.Errorf("%q: %s", head, cmp.Diff(w.Want, w.Got))
		}
	}
}

// TestChannelMistakes: a line that leaves open which channel it means, or means none, says what to write.
func TestChannelMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"deliver p -> h": "from p to h something is under way in control and state: say which, as in " +
			"`… p -> h on control`",
		"deliver p -> h on stat":      "there is no channel stat; there are control and state; did you mean state?",
		"deliver h -> p on state":     "nothing is under way from h to p on state",
		"deliver p -> h on state 3":   "nothing is under way from p to h on state",
		"drop p -> h on state at 3":   "from p to h on state there is no such message; under way are MOVE{n: 1}",
		"copy p -> h on control at 2": "from p to h on control there is no such message; under way are JOIN",
		"break p -> h on state": "`on` names the channel of a message; a link is of all channels: leave out " +
			"`on state`",
	} {
		_, _, err := played(t, "p join\np move\n"+line+"\n----\n")
		if err == nil || err.Error() != "line 3: "+want {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, _, err := run(t, "a ready\ndeliver a -> b on state\n----\n"); err == nil ||
		!strings.HasSuffix(err.Error(), "has one channel: leave out `on state`") {
		t.Error(err)
	}
}
