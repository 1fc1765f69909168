//go:build unix

package driver

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

func processTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIdle measures 10,000 machines at rest, each with a distant timer and limits on silence:
// processor time in a second, in percent of a core.
func BenchmarkIdle(b *testing.B) {
	h, l := newHost(b, 10_000, Options[*pingpong.Runner]{IdleLimit: 2 * time.Hour})
	defer l.Abort()
	for n := range 10_000 {
		h.arrived(0, transport.Arrival{Kind: transport.PeerUp, Peer: n})
		h.enter(h.sessions[n])
		h.core.timers.start(0, 0, time.Hour+time.Duration(n))
		h.leave()
	}
	ran := make(chan error)
	go func() { ran <- h.Run(b.Context()) }()
	least := time.Hour
	for b.Loop() {
		before := processTime()
		time.Sleep(time.Second)
		least = min(least, processTime()-before)
	}
	h.Stop()
	if err := <-ran; err != nil || h.Sessions() != 10_000 {
		b.Errorf("%v, %d machines", err, h.Sessions())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(100*least.Seconds(), "%-of-a-core")
}

// BenchmarkConnections is the memory of a driver with a TCP connection of its own, at rest: the
// driver, the link, its buffer and the goroutine's stack, without what the kernel keeps.
func BenchmarkConnections(b *testing.B) {
	const count = 200
	for name, o := range map[string]Options[*pingpong.Runner]{"default": {},
		"small": {ReceiveBuffer: 1 << 10, Mailbox: 8}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(connections(b, count, o), "bytes/connection")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func connections(b *testing.B, count int, o Options[*pingpong.Runner]) float64 {
	// all are of one address and come at once
	ln, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{PerAddress: -1, AddressRate: -1, AcceptRate: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	var ours, theirs []*tcp.Link
	for range count {
		x, err := tcp.Dial(b.Context(), "tcp4", ln.Addr().String(), tcp.Config{})
		if err != nil {
			b.Fatal(err)
		}
		y, err := ln.Accept(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		ours, theirs = append(ours, x), append(theirs, y)
	}
	before := used()
	var drivers []*Driver[*pingpong.Runner]
	for _, l := range ours {
		d := New(pingpong.New(), o)
		if err := d.Attach(0, l); err != nil {
			b.Fatal(err)
		}
		go d.Run(b.Context())
		drivers = append(drivers, d)
	}
	for _, d := range drivers { // it runs, and has its link
		if err := d.Read(b.Context(), func(*pingpong.Runner) {}); err != nil {
			b.Fatal(err)
		}
	}
	after := used()
	for i, d := range drivers {
		theirs[i].Abort()
		d.Stop()
	}
	for _, d := range drivers {
		<-d.Done()
	}
	return (after - before) / float64(count)
}

func used() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
