package node_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// inside is set for a test that has a network of its own, and long for one that takes its time.
const (
	inside = "CLUSTER_NETWORK"
	long   = "PARLEY_LONG"
)

// The players are the last computer of the network, the servers the others.
const (
	hosts   = ports - 1
	players = ports - 1
)

// Three servers are computers of their own, with TCP of their own and a hub between them that loses packets. One is
// not heard any more, and another does not hear, and players reach both all the time; then all wires are slow and lose
// packets. With PARLEY_LONG, one is cut off altogether before. The players of a server that is cut off are told, no
// game is two servers' in one epoch, what the servers did is what the specification says, and all games are found
// afterwards.
func TestNetwork(t *testing.T) {
	t.Parallel()
	inNetwork(t, 1)
}

// TestNetworkOfNATS is the same where each computer has a NATS server as well, so that the leader of a bucket may be
// what is cut off.
func TestNetworkOfNATS(t *testing.T) {
	if os.Getenv(long) == "" && os.Getenv(inside) == "" {
		t.Skip("only with PARLEY_LONG=1, as in .ci/nightly")
	}
	inNetwork(t, hosts)
}

// inNetwork runs the test of this name in a network of its own.
func inNetwork(t *testing.T, nats int) {
	if os.Getenv(inside) != "" {
		faultyNetwork(t, nats)
		return
	}
	unshare := []string{"-Urnpf", "--kill-child"}
	// A card is made there, since to be root is not all that it takes.
	try := append(unshare, "sh", "-c", "ip tuntap add mode tap dev hub0 && unshare -n true")
	if out, err := exec.Command("unshare", try...).CombinedOutput(); err != nil {
		t.Skipf("no network of one's own can be made here: %v, %s", err, out)
	}
	c := exec.CommandContext(t.Context(), "unshare", append(unshare, os.Args[0], "-test.run", "^"+t.Name()+"$",
		"-test.v", "-test.timeout", "5m")...)
	c.Env = append(os.Environ(), inside+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, said, ok := strings.Cut(line, "_test.go:"); ok {
			t.Log(strings.TrimSpace(said))
		}
	}
}

// host is a server that is a process with a network of its own.
type host struct {
	door string
	out  chan bool // it may serve, or must not any more
	in   io.Closer
	cmd  *exec.Cmd
}

// startHost starts a host, and returns its network card as well.
func startHost(t *testing.T, number, nats int, lease time.Duration, dir string) (*host, *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	defer theirs.Close()
	defer unix.Close(pair[0])
	c := exec.Command(os.Args[0], "-host", strconv.Itoa(number), strconv.Itoa(nats), lease.String(), dir)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	c.ExtraFiles = []*os.File{theirs}
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &host{door: net.JoinHostPort(hostIP(number), "4100"), out: make(chan bool, 1024), in: in, cmd: c}
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, 0)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		t.Fatalf("host %d has no network card: %v", number, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h.out <- lines.Text() == "up"
		}
	}()
	return h, os.NewFile(uintptr(fds[0]), "tap")
}

// beHost is the program of a host. It gives its network card to the test and serves until standard input ends.
func beHost(number, nats int, lease time.Duration, dir string) error {
	card, err := tap(number)
	if err != nil {
		return err
	}
	raw, err := card.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) { sent = unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(fd)), nil, 0) })
	if err = errors.Join(err, sent); err != nil {
		return err
	}
	unix.Close(3)
	at := func(i, port int) string { return net.JoinHostPort(hostIP(i), strconv.Itoa(port)) }
	var urls, routes []string
	for i := range nats {
		urls, routes = append(urls, "nats://"+at(i, 4222)), append(routes, at(i, 6222))
	}
	if number < nats {
		cfg := store.EmbedConfig{Address: at(number, 4222), Dir: filepath.Join(dir, fmt.Sprint("nats", number))}
		if nats > 1 {
			cfg.Name, cfg.Route, cfg.Peers = fmt.Sprint("n", number), at(number, 6222), routes
		}
		e, err := store.Embed(cfg)
		if err != nil {
			return err
		}
		defer e.Shutdown()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	nc, err := store.Connect(strings.Join(urls, ","), fmt.Sprint("host ", number))
	for n := 0; err != nil && n < 100; n++ { // NATS has not begun yet
		<-time.After(100 * time.Millisecond)
		nc, err = store.Connect(strings.Join(urls, ","), fmt.Sprint("host ", number))
	}
	if err != nil {
		return err
	}
	defer nc.Close()
	opening, opened := context.WithTimeout(ctx, time.Minute)
	st, err := store.Open(opening, nc, store.Config{Lease: lease, Replicas: nats, Burst: 100000})
	opened()
	if err != nil {
		return err
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(hostIP(number)), Port: 4100})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var all records
	err = node.New(st, node.Config{Trace: all.of(number), Idle: 100 * time.Millisecond, GamesPerAddress: 1000,
		Length: 10 * time.Millisecond, Spacing: 1,
		OnSession: func(up bool) { fmt.Println(map[bool]string{true: "up", false: "down"}[up]) }}).Run(ctx, l)
	if err != nil {
		return err
	}
	return all.save(dir)
}

// save writes all records into a folder.
func (r *records) save(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, x := range r.list {
		name := fmt.Sprintf("%d-%d-%d-%s.trace", x.server, i, x.game.Kind, hex.EncodeToString([]byte(x.game.Name)))
		if err := os.WriteFile(filepath.Join(dir, name), x.text.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// load reads what was saved there.
func (r *records) load(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.trace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		x := &recorded{}
		var n, kind int
		var game []byte
		_, err := fmt.Sscanf(filepath.Base(name), "%d-%d-%d-", &x.server, &n, &kind)
		if err == nil {
			game, err = hex.DecodeString(strings.TrimSuffix(name[strings.LastIndexByte(name, '-')+1:], ".trace"))
		}
		text, bad := os.ReadFile(name)
		if err = errors.Join(err, bad); err != nil {
			t.Fatal(name, err)
		}
		x.game = store.Game{Kind: tenure.Kind(kind), Name: string(game)}
		x.text.Write(text)
		r.list = append(r.list, x)
	}
}

func faultyNetwork(t *testing.T, nats int) {
	long := os.Getenv(long) != ""
	lease := 1500 * time.Millisecond
	if nats > 1 {
		lease = 3 * time.Second
	}
	dir := t.TempDir()
	card, err := tap(players)
	if err != nil {
		t.Fatal(err)
	}
	cards := [ports]*os.File{players: card}
	var all [hosts]*host
	var doors []string
	for i := range hosts {
		all[i], cards[i] = startHost(t, i, nats, lease, dir)
		t.Cleanup(func() { _ = all[i].cmd.Process.Kill(); _ = all[i].cmd.Wait() })
		doors = append(doors, all[i].door)
	}
	h := newHub(t, cards)
	c := withNATS(t, "", 1)
	var done context.CancelFunc
	c.ctx, done = context.WithTimeout(t.Context(), 4*time.Minute)
	defer done()
	began := time.Now()
	said := func(format string, v ...any) {
		t.Logf("%5.1f s: %s", time.Since(began).Seconds(), fmt.Sprintf(format, v...))
	}
	wait := func(i int, want bool) {
		t.Helper()
		// Far longer than a session is good without the store, and than NATS takes to be found again.
		late := time.After(10*time.Second + 10*lease)
		for {
			select {
			case up := <-all[i].out:
				if up == want {
					said("server %d: may serve: %t", i, up)
					return
				}
			case <-late:
				t.Fatalf("server %d: no session that is %t", i, want)
			}
		}
	}
	for i := range hosts {
		wait(i, true)
	}
	crowd := play(c, doors)
	crowd.more(20)

	// told has players sit in lobbies of servers while f makes these lose their sessions.
	told := func(servers []int, f func()) {
		t.Helper()
		var in []*player
		for _, i := range servers {
			var p *player
			for n := 0; p == nil || p.conn.RemoteAddr().String() != doors[i]; n++ {
				p = c.player(fmt.Sprint("at ", i, "-", n), "", doors[i]) // until it begins there
			}
			in = append(in, p)
		}
		f()
		for n, i := range servers {
			p := in[n]
			wait(i, false)
			_ = p.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := p.conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the player of server %d, which is cut off, is not told: %v", i, err)
			}
			before := p.Epoch()
			again := c.player(p.name, "", doors...)
			if again.Epoch() <= before {
				t.Errorf("after epoch %d comes %d", before, again.Epoch())
			}
			said("the player of server %d is at %v", i, again.conn.RemoteAddr())
			again.conn.Close()
		}
	}
	zero, one, two := []int{0}, []int{1}, []int{2}
	if long {
		told(one, func() {
			h.cut(true, one, []int{0, 2})
			h.cut(true, []int{0, 2}, one)
		})
		crowd.more(20)
		h.cut(false, one, []int{0, 2})
		h.cut(false, []int{0, 2}, one)
		wait(1, true)
	}
	if nats == 1 {
		told([]int{1, 2}, func() { // server 1 is not heard, and server 2 does not hear
			h.cut(true, one, []int{0, 2})
			h.cut(true, zero, two)
		})
		h.cut(false, one, []int{0, 2})
		h.cut(false, zero, two)
	} else { // one after the other, or no two of NATS would be left
		told(one, func() { h.cut(true, one, []int{0, 2}) })
		h.cut(false, one, []int{0, 2})
		wait(1, true)
		told(two, func() { h.cut(true, []int{0, 1}, two) })
		h.cut(false, []int{0, 1}, two)
		wait(2, true)
	}
	joins := int64(8)
	if long {
		joins = 40
		for i := 1; nats == 1 && i < hosts; i++ {
			wait(i, true)
		}
	}
	h.worsen(100*time.Millisecond, 5) // each way
	crowd.more(joins)
	h.worsen(0, 0)
	said("%d players have come in over wires that are slow and lose packets", joins)
	crowd.stop()
	var finding sync.WaitGroup
	for i := range games {
		for _, d := range doors {
			finding.Go(func() {
				s, err := seeker([]string{d}, i)
				if err != nil {
					t.Error(err)
					return
				}
				if crowd.enter(s, i); s.Epoch() < crowd.latest(i) {
					t.Errorf("game %d is in epoch %d, and was in %d", i, s.Epoch(), crowd.latest(i))
				}
			})
		}
	}
	finding.Wait()
	said("all games are found")
	for i := hosts - 1; i >= 0; i-- { // that of NATS last
		all[i].in.Close()
		if err := all[i].cmd.Wait(); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
	}
	var list records
	list.load(t, dir)
	steps, begun, over := list.check(t)
	carried, dropped := h.counts()
	if over < 2 || begun < games {
		t.Errorf("%d steps, %d sessions were over, games began %d times", steps, over, begun)
	}
	said("%d joins, %d records, %d steps, games began %d times, %d sessions were over, %d packets carried and %d lost",
		crowd.joins.Load(), len(list.list), steps, begun, over, carried, dropped)
}

func init() {
	mainOfHost = func(args []string) {
		number, err := strconv.Atoi(args[0])
		nats, bad := strconv.Atoi(args[1])
		lease, wrong := time.ParseDuration(args[2])
		if err = errors.Join(err, bad, wrong); err == nil {
			err = beHost(number, nats, lease, args[3])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "host:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}
