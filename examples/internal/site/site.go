// Package site answers browsers for a server that anybody may come to: connections, requests, their size and their
// time are limited, for each address and for all. It knows no page. Start from [Serve].
package site

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
)

// Limits are what is taken. The zero value has the numbers that stand beside the fields.
type Limits struct {
	Links, LinksOfOne int // connections at a time: 128, of one address 16
	EachSecond        int // requests of one address, and connections of it, in a second: 20
	// Time is how long a request may take to come, its answer to go, and a connection may be idle: ten seconds.
	Time time.Duration
	Now  func() time.Time // time.Now
}

// header is the most bytes of a request's header. Pages need no body.
const header = 8 << 10

func (l *Limits) defaults() {
	l.Links, l.LinksOfOne = cmp.Or(l.Links, 128), cmp.Or(l.LinksOfOne, 16)
	l.EachSecond, l.Time = cmp.Or(l.EachSecond, 20), cmp.Or(l.Time, 10*time.Second)
	if l.Now == nil {
		l.Now = time.Now
	}
}

// Serve answers requests with h until ctx ends, which is no error, and closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, limits Limits) error {
	limits.defaults()
	d := &door{Listener: l, limits: limits, open: map[netip.Addr]int{}}
	web := http.Server{Handler: d.each(h), ReadTimeout: limits.Time, ReadHeaderTimeout: limits.Time,
		WriteTimeout: limits.Time, IdleTimeout: limits.Time, MaxHeaderBytes: header}
	stop := context.AfterFunc(ctx, func() { web.Close() })
	defer stop()
	if err := web.Serve(d); ctx.Err() == nil {
		return err
	}
	return nil
}

// door lets connections in, and counts requests.
type door struct {
	net.Listener
	limits Limits

	mu     sync.Mutex
	all    int
	open   map[netip.Addr]int
	second int64 // of the counts that follow
	came   map[netip.Addr]int
	asked  map[netip.Addr]int
}

// Accept waits for a connection that is let in. Others are closed at once.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := origin(conn.RemoteAddr().String())
		if !d.enter(from) {
			conn.Close()
			continue
		}
		return &link{Conn: conn, leave: sync.OnceFunc(func() { d.leave(from) })}, nil
	}
}

func (d *door) enter(from netip.Addr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == d.limits.Links || d.open[from] == d.limits.LinksOfOne {
		return false
	}
	d.tick()
	if !d.count(d.came, from) {
		return false
	}
	d.all++
	d.open[from]++
	return true
}

func (d *door) leave(from netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all--
	if d.open[from]--; d.open[from] == 0 {
		delete(d.open, from)
	}
}

// tick forgets the counts when a new second has begun; d.mu is held.
func (d *door) tick() {
	if now := d.limits.Now().Unix(); now != d.second || d.came == nil {
		d.second, d.came, d.asked = now, map[netip.Addr]int{}, map[netip.Addr]int{}
	}
}

// most is how many addresses are counted in a second. Others wait for the next one.
const most = 4096

func (d *door) count(of map[netip.Addr]int, from netip.Addr) bool {
	if of[from] >= d.limits.EachSecond || of[from] == 0 && len(of) >= most {
		return false
	}
	of[from]++
	return true
}

// each refuses requests beyond the limit.
func (d *door) each(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		d.tick()
		ok := d.count(d.asked, origin(r.RemoteAddr))
		d.mu.Unlock()
		if !ok {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Connection", "close")
			http.Error(w, "too many requests in this second", http.StatusTooManyRequests)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 0)
		h.ServeHTTP(w, r)
	})
}

// origin is the address that counts as one, the zero address where there is none.
func origin(address string) netip.Addr {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}
	}
	return doors.Customer(at.Addr())
}

// link is a connection whose end is counted.
type link struct {
	net.Conn
	leave func()
}

func (l *link) Close() error {
	l.leave()
	return l.Conn.Close()
}
