package node

import (
	"net"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"

	"github.com/parley-go/parley/examples/internal/doors"
)

// places are for connections. An address has so many of them at once, and so many in a time: as many as it may have
// at once, and each second a sixteenth of that.
type places struct {
	most, each int

	mu    sync.Mutex
	sum   int
	taken map[netip.Addr]*customer
}

// customer is an address that is connected, or was just now.
type customer struct {
	count int
	rate  *rate.Limiter
}

// maxCustomers is how many addresses are known for each place that there is. One that is forgotten begins anew.
const maxCustomers = 4

func newPlaces(most, each int) places {
	return places{most: most, each: each, taken: map[netip.Addr]*customer{}}
}

// address is the customer at the other end of a connection; it is not valid if there is none.
func address(a net.Addr) netip.Addr {
	from, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return doors.Customer(from.Addr())
}

// take gives a connection from an address its place, if there is one. To free it twice is to free it once.
func (p *places) take(from net.Addr) (free func(), ok bool) {
	a := address(from)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !a.IsValid() || p.sum >= p.most {
		return nil, false
	}
	c := p.taken[a]
	if c == nil {
		if len(p.taken) >= maxCustomers*p.most {
			p.forgetOne()
		}
		c = &customer{rate: rate.NewLimiter(rate.Limit(max(1, float64(p.each)/16)), p.each)}
		p.taken[a] = c
	}
	if c.count >= p.each || !c.rate.Allow() {
		return nil, false
	}
	p.sum++
	c.count++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sum--
		c.count--
	}), true
}

// sweep forgets who has gone, and has not come often.
func (p *places) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a, c := range p.taken {
		if c.count == 0 && c.rate.Tokens() >= float64(p.each) {
			delete(p.taken, a)
		}
	}
}

// forgetOne forgets any address that has no connection. The caller has the lock.
func (p *places) forgetOne() {
	for a, c := range p.taken {
		if c.count == 0 {
			delete(p.taken, a)
			return
		}
	}
}

// open returns how many connections there are.
func (p *places) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sum
}
