package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/internal/process"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/machines/gameserver"
)

// TestMain has the test's program be a server, so that it can be killed, and its processor time can be told.
func TestMain(m *testing.M) {
	process.Main(func() {
		if len(os.Args) == 2 && os.Args[1] == "plain" {
			plain()
		}
		main()
	})
	os.Exit(m.Run())
}

// plain passes each datagram on to all others from which one has come.
func plain() {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	fmt.Println("the game is at", conn.LocalAddr())
	var members []netip.AddrPort
	buf := make([]byte, 2000)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if !slices.Contains(members, from) {
			members = append(members, from)
		}
		for _, to := range members {
			if to != from {
				conn.WriteToUDPAddrPort(buf[:n], to)
			}
		}
	}
}

// BenchmarkSlots has players join a slotserver and leave it, one after another and from many addresses, and
// reports what the server's processor time would carry on one core. Then as many connections as it holds stay,
// 16 of which play; what they cost is the growth of the server's memory.
func BenchmarkSlots(b *testing.B) {
	const joins = 2000
	for b.Loop() {
		p := process.Start(b, strings.Fields("-mode slot -handshake 5m -per-address 20 -listen 127.0.0.1:0"),
			"listening on ")
		cmd, at := p.Cmd, p.Got
		n := 0
		// ask connects from the next address, as one may make 50 connections a second, says this and waits for such an
		// answer, until it has one: all may make 1,000 connections a second.
		ask := func(say, want string) net.Conn {
			for end := time.Now().Add(time.Minute); time.Now().Before(end); {
				n++
				d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+n/200%200), byte(1+n%200))}}
				conn, err := d.Dial("tcp4", at[0])
				if err != nil {
					continue
				}
				fmt.Fprintf(conn, say, n)
				for r := bufio.NewScanner(conn); r.Scan(); {
					if strings.HasPrefix(r.Text(), want) {
						return conn
					}
				}
				conn.Close()
			}
			b.Fatal("nobody is let in any more")
			return nil
		}
		begin, before := time.Now(), processorTime(b, cmd.Process.Pid)
		for range joins {
			ask("version: 1.0 join me: p%d os: linux\nremove me\n", "removing you").Close()
		}
		spent := processorTime(b, cmd.Process.Pid) - before
		b.ReportMetric(joins/spent.Seconds(), "joins/core-s")
		b.ReportMetric(joins/time.Since(begin).Seconds(), "joins/s")
		memory := resident(b, cmd.Process.Pid)
		held := 0
		for held < maxParties-4 {
			if held < 16 {
				defer ask("version: 1.0 join me: p%d os: linux\n", "join from").Close()
			} else { // who does not play is told so
				defer ask("my new name: p%d\n", "you sent an invalid request").Close()
			}
			held++
		}
		b.ReportMetric(float64(held), "held")
		b.ReportMetric(float64(resident(b, cmd.Process.Pid)-memory)/float64(held), "B/held")
		p.Kill()
	}
	b.ReportMetric(0, "ns/op")
}

// processorTime is what a process has used so far.
func processorTime(b *testing.B, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("this system does not tell the processor time of others")
	}
	var user, system int64
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	fmt.Sscan(f[11], &user)
	fmt.Sscan(f[12], &system)
	return time.Duration(user+system) * (time.Second / 100)
}

// resident is how much memory a process has.
func resident(b *testing.B, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Skip("this system does not tell the memory of others")
	}
	var size, pages int
	fmt.Sscan(string(text), &size, &pages)
	return pages * os.Getpagesize()
}

const (
	benchClients = 16
	benchRate    = 60
)

// BenchmarkGame has 16 players send the state of their ships 60 times a second, through the gameserver and through a
// bare loop that passes datagrams on, each a process of its own, in turns. It reports how long a state takes from one
// player to another in the quickest turn, and how many such sessions the processor time of one core would carry: the
// mean of all turns, each counted by what arrived. Of several states of a ship that come together the gameserver
// passes on the newest; so a turn does not count in which a busy computer has held up many.
func BenchmarkGame(b *testing.B) {
	servers := []string{"plain", "-mode game -per-address 20 -listen 127.0.0.1:0 -udp 127.0.0.1:0"}
	names := []string{"plain", "game"}
	var median, last [2]time.Duration
	var carried [2]float64
	turns, ratios := 0, []float64{}
	for b.Loop() {
		var got [2]float64
		whole := true
		for i, serve := range servers {
			took, cores := session(b, serve)
			if len(took) == 0 {
				b.Fatal("nothing arrived")
			}
			slices.Sort(took)
			if m, p99 := took[len(took)/2], took[len(took)*99/100]; last[i] == 0 || p99 < last[i] {
				median[i], last[i] = m, p99
			}
			share := float64(len(took)) / float64(benchClients*(benchClients-1)*benchRate*2)
			whole = whole && share > 0.95
			got[i] = share / cores
		}
		b.Logf("plain %.2f, game %.2f sessions: %.2f", got[0], got[1], got[1]/got[0])
		if !whole {
			b.Log("this turn does not count: more than a twentieth did not arrive")
			continue
		}
		turns++
		ratios = append(ratios, got[1]/got[0])
		for i := range got {
			carried[i] += got[i]
		}
	}
	b.ReportMetric(0, "ns/op")
	if turns == 0 {
		return
	}
	for i, name := range names {
		b.ReportMetric(float64(median[i].Microseconds()), name+"-median-µs")
		b.ReportMetric(float64(last[i].Microseconds()), name+"-p99-µs")
		b.ReportMetric(carried[i]/float64(turns), name+"-sessions/core")
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "game/plain")
}

// session plays two seconds, and returns how long states took and what share of a core the server used.
func session(b *testing.B, serve string) (took []time.Duration, cores float64) {
	want := []string{"the game is at ", "listening on "}
	if serve == "plain" {
		want = want[:1]
	}
	server := process.Start(b, strings.Fields(serve), want...)
	places := server.Got
	game, door := places[0], ""
	if len(places) > 1 {
		door = places[1]
	}
	var mu sync.Mutex
	var readers sync.WaitGroup
	var conns []net.Conn
	var keys []gameserver.Key
	epoch := time.Now()
	for i := range benchClients {
		var key gameserver.Key
		if door != "" {
			tcp, err := net.Dial("tcp", door)
			if err != nil {
				b.Fatal(err)
			}
			defer tcp.Close()
			fmt.Fprintf(tcp, "version: 1.0 join me: p%d os: linux\n", i)
			for r := bufio.NewScanner(tcp); key == 0 && r.Scan(); {
				fmt.Sscanf(r.Text(), "key: %d", &key)
			}
		}
		conn, err := net.Dial("udp4", game)
		if err != nil {
			b.Fatal(err)
		}
		conn.(*net.UDPConn).SetReadBuffer(1 << 20)
		conns, keys = append(conns, conn), append(keys, key)
		readers.Go(func() {
			buf, own := make([]byte, 2000), []time.Duration{}
			for {
				n, err := conn.Read(buf)
				if err != nil {
					break
				}
				if n >= 144 && buf[16] == 7 {
					sent := time.Duration(binary.LittleEndian.Uint64(buf[44+56:]))
					own = append(own, time.Since(epoch)-sent)
				}
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	const total = benchClients * benchRate * 2
	step := time.Second / (benchClients * benchRate)
	begin := time.Now()
	for n := 0; n < total; {
		for due := min(int(time.Since(begin)/step)+1, total); n < due; n++ {
			i := n % benchClients
			m := gameserver.Message{Kind: gameserver.MessageState}
			ship := remote.Ship{Matrix: [12]float32{3: float32(n)}}
			now := uint64(time.Since(epoch))
			ship.Yaw, ship.Pitch = int32(now), int32(now>>32)
			m.State.Number, m.State.Key = gameserver.Number(n/benchClients+1), keys[i]
			m.State.Ship, _ = gameserver.NewShip(string(ship.Append(nil)))
			frame, err := gameserver.AppendMessage(nil, &m)
			if err != nil {
				b.Fatal(err)
			}
			conns[i].Write(frame)
		}
		time.Sleep(200 * time.Microsecond)
	}
	spent := time.Since(begin)
	time.Sleep(50 * time.Millisecond) // the last ones arrive
	if serve == "plain" {
		server.Kill()
	} else {
		server.Terminate()
	}
	for _, c := range conns {
		c.Close()
	}
	readers.Wait()
	used := server.Cmd.ProcessState.UserTime() + server.Cmd.ProcessState.SystemTime()
	return took, used.Seconds() / spent.Seconds()
}
