package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/impair"
)

// Variables of the processes of TestNetworks. networks is how many networks there are, lan the seed
// of one in a process that has a network of its own, computer the address and the seed of a peer.
const (
	networks = "PARLEY_NETWORKS"
	lan      = "PARLEY_STARTUP_LAN"
	computer = "PARLEY_STARTUP_COMPUTER"
)

// slowest is how long the peers of a network may take to agree when all is calm again, and lasts how
// long they then have to: longer than the silence after which a player is given up.
const (
	slowest = 2 * time.Minute
	lasts   = 4 * time.Second
)

// TestNetworks starts up to six programs on a network of their own, as often as PARLEY_NETWORKS
// says, while packets are lost, doubled and overtake each other, programs are killed and begin
// again, stand still for seconds, and the switch falls into two parts, which heal. Then all is calm,
// and all who live have to be the players of one game. PARLEY_SIM_SEED repeats one run.
func TestNetworks(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv(networks))
	first := 1
	if s := os.Getenv("PARLEY_SIM_SEED"); s != "" && runs > 0 {
		first, _ = strconv.Atoi(s)
		runs = 1
	}
	if runs <= 0 {
		t.Skipf("only with %s=N, as in .ci/nightly", networks)
	}
	if err := exec.Command("unshare", "-Urnpf", "--kill-child", "sh", "-c",
		"ip link add br0 type bridge && unshare -n true").Run(); err != nil {
		t.Skipf("no network of one's own can be made here: %v", err)
	}
	seeds := make(chan int)
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		longest time.Duration
		worst   int
		total   scars
	)
	for range 4 {
		all.Go(func() {
			for seed := range seeds {
				cmd := exec.CommandContext(t.Context(), "unshare", "-Urnpf", "--kill-child", os.Args[0],
					"-test.run", "^TestLan$", "-test.v")
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", lan, seed))
				out, err := cmd.CombinedOutput()
				var s scars
				_, line, _ := strings.Cut(string(out), "agreed ")
				if bad := json.NewDecoder(strings.NewReader(line)).Decode(&s); err != nil || bad != nil {
					t.Errorf("seed %d: %v, %v\n%s", seed, err, bad, out)
					continue
				}
				mu.Lock()
				if s.Took > longest {
					longest, worst = s.Took, seed
				}
				total.add(s)
				mu.Unlock()
			}
		})
	}
	for i := range runs {
		seeds <- first + i
	}
	close(seeds)
	all.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d networks of %d programs in the end, of which %d were killed and began again, %d stood still; %d "+
		"partitions; all agreed, on average %v after the last fault, the slowest (seed %d) %v", runs, total.Programs,
		total.Killed, total.Frozen, total.Partitions, (total.Took / time.Duration(runs)).Round(time.Millisecond),
		worst, longest.Round(time.Millisecond))
}

// scars are what a network went through, and how long it then took to agree.
type scars struct {
	Programs, Killed, Frozen, Partitions int
	Took                                 time.Duration
}

func (s *scars) add(o scars) {
	s.Programs += o.Programs
	s.Killed += o.Killed
	s.Frozen += o.Frozen
	s.Partitions += o.Partitions
	s.Took += o.Took
}

// TestLan is one network of TestNetworks.
func TestLan(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv(lan), 10, 64)
	if err != nil {
		t.Skip("runs as a part of TestNetworks")
	}
	n := &lanOf{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 3)), running: map[int]*program{}}
	n.ip("link add br0 type bridge")
	n.ip("link set br0 up")
	n.ip("link add br1 type bridge")
	n.ip("link set br1 up")
	n.chaos(3 + n.random.IntN(4))
	n.calm()
	b, err := json.Marshal(n.scars)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("agreed %s\n", b)
	for _, p := range n.running {
		p.cmd.Process.Kill()
	}
}

// lanOf is a network with two switches, br0 and br1, of programs in networks of their own.
type lanOf struct {
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	cards   int // so many were made
	running map[int]*program
	scars   scars
}

// program is one that runs; its card is on a port of a switch.
type program struct {
	cmd  *exec.Cmd
	port string
	in   io.Writer  // a line says that all is calm
	mu   sync.Mutex // guards view
	view shown
}

// shown is what a program has seen, as it says in a line, and whether it has been told that all is calm.
type shown struct {
	View
	Calm bool
}

func (n *lanOf) ip(args string) {
	n.t.Helper()
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %s: %v\n%s", args, err, out)
	}
}

// boot starts the program of a computer. A computer's card ends with its program.
func (n *lanOf) boot(i int) {
	n.t.Helper()
	n.cards++
	p := &program{port: fmt.Sprintf("p%d", n.cards)}
	card := fmt.Sprintf("c%d", n.cards)
	n.ip("link add " + p.port + " type veth peer name " + card)
	n.ip("link set " + p.port + " master br0 up")
	p.cmd = exec.Command("unshare", "-n", "sh", "-c", fmt.Sprintf("echo there; read x; ip link set lo up; "+
		"ip addr add 10.9.0.%d/24 brd + dev %s && ip link set %s up && exec %s -test.run '^TestComputer$' -test.v",
		i, card, card, os.Args[0]))
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=10.9.0.%d %d", computer, i, n.seed<<8+uint64(n.cards)))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() { // it has its own network now
		n.t.Fatalf("computer %d: nothing", i)
	}
	n.ip(fmt.Sprintf("link set %s netns %d", card, p.cmd.Process.Pid))
	fmt.Fprintln(in)
	go func() {
		for lines.Scan() {
			var v shown
			if json.Unmarshal(lines.Bytes(), &v) == nil {
				p.mu.Lock()
				p.view = v
				p.mu.Unlock()
			}
		}
	}()
	p.in = in
	n.running[i] = p
}

// chaos starts the programs, and lets faults come for some seconds.
func (n *lanOf) chaos(programs int) {
	for i := range programs {
		n.boot(10 + i)
		n.pass(1500)
	}
	n.scars.Programs = programs
	for range 3 + n.random.IntN(3) {
		n.pass(1500)
		i := 10 + n.random.IntN(programs)
		switch n.random.IntN(3) {
		case 0:
			n.scars.Killed++
			n.running[i].cmd.Process.Kill()
			n.running[i].cmd.Wait()
			n.pass(4000) // as a rule before or about when its silence is noticed
			n.boot(i)
		case 1:
			n.scars.Frozen++
			n.running[i].cmd.Process.Signal(syscall.SIGSTOP)
			n.pass(6000)
			n.running[i].cmd.Process.Signal(syscall.SIGCONT)
		case 2:
			n.scars.Partitions++
			n.part(n.random.IntN(1 << programs))
			n.pass(8000)
			n.part(0)
		}
	}
}

// pass lets up to so many milliseconds pass.
func (n *lanOf) pass(most int) { time.Sleep(time.Duration(n.random.IntN(most)) * time.Millisecond) }

// part puts the computers whose bits are set on the second switch, and the others on the first.
func (n *lanOf) part(set int) {
	for i, p := range n.running {
		n.ip(fmt.Sprintf("link set %s master br%d", p.port, set>>(i-10)&1))
	}
}

// calm ends all faults, and waits until all are the players of one game.
func (n *lanOf) calm() {
	for _, p := range n.running {
		fmt.Fprintln(p.in)
	}
	began := time.Now()
	agreed := began
	for time.Since(agreed) < lasts {
		if x := n.trouble(); x != "" {
			if agreed = time.Now(); agreed.Sub(began) > slowest {
				n.t.Fatalf("seed %d:\n%s", n.seed, x)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	n.scars.Took = agreed.Sub(began)
}

// trouble says why the programs do not agree, as far as they have shown what they see.
func (n *lanOf) trouble() string {
	views := map[string]shown{}
	for _, p := range n.running {
		p.mu.Lock()
		v := p.view
		p.mu.Unlock()
		views[v.Address] = v
	}
	text := ""
	for _, v := range views {
		ok := v.Calm && v.State == "game" && v.Taken() == len(n.running) && v.Slot >= 0
		for i, p := range v.Players {
			o, there := views[p.Address]
			ok = ok && (!p.Taken || there && o.Slot == i && o.Founder == v.Founder && o.Round == v.Round)
		}
		if !ok {
			text += v.String() + "\n"
		}
	}
	return text
}

// TestComputer is one program of TestNetworks: a peer over a real network, with faults of its own
// until it is told that all is calm.
func TestComputer(t *testing.T) {
	address, number, ok := strings.Cut(os.Getenv(computer), " ")
	seed, err := strconv.ParseUint(number, 10, 64)
	if !ok || err != nil {
		t.Skip("runs as a part of TestNetworks")
	}
	const silence = 3 * time.Second
	l, err := OpenUDP(Place{Bind: address + ":6581", Broadcast: "10.9.0.255:6581", Silence: silence})
	if err != nil {
		t.Fatal(err)
	}
	bad, err := impair.New(l, impair.Config{Seed: seed, Weak: true, Faults: impair.Faults{Loss: 0.2, Duplicate: 0.2,
		Reorder: 0.2, Late: 200 * time.Millisecond, Delay: time.Millisecond, Jitter: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(impaired{bad, l.Self()}, Config{Tick: 100 * time.Millisecond, Silence: silence,
		Again: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(context.Background()) }()
	calm := make(chan bool)
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		close(calm)
	}()
	v := shown{}
	tick := time.NewTicker(50 * time.Millisecond)
	for {
		select {
		case <-calm:
			calm, v.Calm = nil, true
			if err := bad.SetFaults(impair.Faults{}); err != nil {
				t.Fatal(err)
			}
		case err := <-ended:
			t.Fatal(err)
		case <-tick.C:
			v.View = p.View(context.Background())
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%s\n", b)
		}
	}
}
