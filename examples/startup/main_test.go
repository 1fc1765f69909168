package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/startup/peer"
)

// One who is alone founds a game, says so, and leaves in good order.
func TestAlone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	args := []string{"-broadcast", "127.255.255.255:0", "-until", "1", "-for", "1m", "-trace", file, "-name", "alone"}
	if code := run(args, &out, &out); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || lines[0] != "connecting" || !strings.HasPrefix(lines[1],
		"game, slot 0, founded by 127.0.0.1:") || !strings.HasSuffix(lines[1], " (me)") || lines[2] != "left" {
		t.Errorf("%q", lines)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte(`"instance":"alone"`)) ||
		!bytes.Contains(b, []byte("leave")) {
		t.Errorf("the record is %q, %v", b, err)
	}
}

func TestExitCodes(t *testing.T) {
	for _, x := range []struct {
		args string
		code int
		want []string
	}{
		{"-link udp -server 127.0.0.1:1", 2, []string{"-server has no meaning with -link udp; it is for tunnel: "}},
		{"-link tunnel -card eth0", 2, []string{"-card has no meaning with -link tunnel"}},
		{"-serve 127.0.0.1:0 -name x", 2, []string{"-name has no meaning with -serve"}},
		{"-tick 0s", 2, []string{"-tick 0s", "more than 0"}},
		{"-silence -1s", 2, []string{"-silence -1s", "more than 0"}},
		{"-universe 256", 2, []string{"-universe 256: it is a number from 0 to 255"}},
		{"-for -1s", 2, []string{"-for -1s", "not negative"}},
		{"-bind 203.0.113.77", 2, []string{"does not have the address 203.0.113.77; it has 127.0.0.1"}},
		{"-broadcast 203.0.113.255:6581", 2,
			[]string{"no broadcast address of this computer's networks; take one of 127.255.255.255"}},
		{"-serve 203.0.113.77:1", 2, []string{"listening on 203.0.113.77:1 (IPX in UDP)", "it has 127.0.0.1"}},
		{"-link tunnel -server 127.0.0.1", 2, []string{"write HOST:PORT"}},
		{"-help", 0, []string{"-broadcast", "127.255.255.255:6581"}},
		{"-nonsense", 2, []string{"nonsense"}},
		{"here", 2, []string{`"here"`}},
		{"-link tcp", 2, []string{"tcp", "tunnel"}},
		{"-link ipx -framing token", 2, []string{"token", "snap"}},
		{"-link ipx -card nosuch", 2, []string{"network card nosuch", "none of that name; it has "}},
		{"-link tunnel -socket 0", 2, []string{"-socket 0"}},
		{"-link tunnel -server 127.0.0.1:1 -for 300ms", 2,
			[]string{"connecting to the IPX server 127.0.0.1:1", "ipxnet startserver", "deadline"}},
		{"-broadcast everybody", 2, []string{"everybody", "127.255.255.255"}},
		{"-bind 0.0.0.0", 2, []string{"0.0.0.0", "one network"}},
		{"-trace /nowhere/x", 2, []string{"/nowhere/x"}},
		{"-serve nowhere", 2, []string{"nowhere"}},
		{"-serve 127.0.0.1:0 -for 10ms", 0, []string{"serving an IPX network on 127.0.0.1:"}},
	} {
		var out bytes.Buffer
		if code := run(strings.Fields(x.args), &out, &out); code != x.code {
			t.Errorf("%s: exit code %d, want %d", x.args, code, x.code)
		}
		for _, want := range x.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in %s", x.args, want, out.String())
			}
		}
	}
}

func TestTable(t *testing.T) {
	v := peer.View{State: "game", Address: "10.0.0.2:7", Slot: 1, Founder: "10.0.0.9:7", Round: 2,
		Players: []peer.Player{{Taken: true, Address: "10.0.0.9:7", Keeper: true},
			{Taken: true, Address: "10.0.0.2:7", Self: true}, {}, {Taken: true, Unresolved: true}}}
	want := `10.0.0.2:7  game  game of 10.0.0.9:7, attempt 2

 slot  player
    0  10.0.0.9:7                    gives slots
    1  10.0.0.2:7                    me
    2  -                           
    3  (vanished)                  
`
	if got := table(v); got != want {
		t.Errorf("%s", got)
	}
	var out bytes.Buffer
	d := &display{w: &out, terminal: true}
	d.view(v)
	d.view(v)
	v.Players[2] = peer.Player{Taken: true, Address: "10.0.0.4:7"}
	d.view(v)
	if n := strings.Count(out.String(), "slot  player"); n != 2 || strings.Count(out.String(), "\x1b[7A\x1b[J") != 1 {
		t.Errorf("%d tables: %q", n, out.String())
	}
}

// inside is set in a process that is one computer of a network made for the test; its value are the
// flags.
const inside = "PARLEY_STARTUP_INSIDE"

func TestInside(t *testing.T) {
	args := os.Getenv(inside)
	if args == "" {
		t.Skip("runs as a part of TestNetwork")
	}
	if code := run(strings.Fields(args), os.Stdout, os.Stderr); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// three are three computers on a switch. $0 is the test program. A card is given to a computer when
// that has a network of its own, which it says by a file. When each has seen all three they are
// told to leave.
const three = `ip link set lo up; ip link add br0 type bridge && ip link set br0 up || exit 9
for i in 1 2 3; do
	ip link add p$i type veth peer name c$i && ip link set p$i master br0 up || exit 9
	unshare -n sh -c "touch $DIR/ready$i; until ip link show c$i >/dev/null 2>&1; do sleep 0.02; done
		ip link set lo up; ip addr add 10.9.0.$i/24 brd + dev c$i && ip link set c$i up || exit 9
		` + inside +
	`=\"$(echo $FLAGS | sed s/@/$i/) -trace $DIR/$i.jsonl\" exec $0 -test.run TestInside -test.v" >$DIR/$i.txt 2>&1 &
	all="$all $!"
	until [ -e $DIR/ready$i ]; do sleep 0.02; done
	ip link set c$i netns $! || exit 9
done
for i in 1 2 3; do until grep -q "| 0 .*| 1 .*| 2 " $DIR/$i.txt; do sleep 0.05; done; done
kill -TERM $all
wait`

// Three computers of a network of their own find each other by broadcast, over UDP and over IPX.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"unshare", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if err := exec.Command("unshare", "-Urnpf", "--kill-child", "sh", "-c",
		"ip link add br0 type bridge && unshare -n true").Run(); err != nil {
		t.Skipf("no network of one's own can be made here: %v", err)
	}
	for name, flags := range map[string]string{
		"udp": "-link udp -bind 10.9.0.@:6581 -broadcast 10.9.0.255:6581",
		"ipx": "-link ipx -card c@ -framing 802.2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // ends a test that would hang
			defer cancel()
			dir := t.TempDir()
			cmd := exec.CommandContext(ctx, "unshare", "-Urnpf", "--kill-child", "sh", "-c", three, os.Args[0])
			cmd.Env = append(os.Environ(), "FLAGS="+flags, "DIR="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			for i := range 3 {
				b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i+1)))
				if text := string(b); err != nil || !strings.Contains(text, "| 0 ") ||
					!strings.Contains(text, "| 1 ") || !strings.Contains(text, "| 2 ") ||
					!strings.Contains(text, "\nleft\n") {
					t.Errorf("computer %d: %v\n%s", i+1, err, text)
				}
			}
		})
	}
}
