// Package page is SSR's registration script over a bucket of NATS: any of a cluster's servers can be asked, and all
// know of every game server that has registered. Lines are those of machines/registration.
//
// It must not know what a game server is. Start from [New].
package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/machines/registration"
)

// maxServers is how many servers are listed, and maxPerAddress how many of one address.
const (
	maxServers    = 10000
	maxPerAddress = 16
)

// One address may ask so often at once, and then so often a second. So many addresses are remembered for it.
const (
	atOnce     = 64
	perSecond  = 4
	maxAskers  = 1 << 14
	askersTime = time.Minute // after which those are forgotten who have all of it again
)

// Page is an [http.Handler].
type Page struct {
	// AtOnce is how often one address may ask at once, 0 for 64; then, four times a second.
	AtOnce int

	st *store.Store

	mu      sync.Mutex
	known   map[string]entry // by key, which is an address; what others have registered, too
	count   int              // of lines in known
	ready   chan struct{}    // closed when known is as the bucket was when we began
	watched sync.Once
	askers  map[netip.Addr]*rate.Limiter
	swept   time.Time
}

// entry is what one address has registered: a line of the list for each port. It is one value, so that the store
// decides in one order which of them come first, whichever scripts are asked.
type entry map[registration.Port]line

// line is a line of the list, and until when it stands there.
type line struct {
	Text  string    `json:"text"`
	Until time.Time `json:"until"`
}

// alive takes out what has expired.
func (e entry) alive(now time.Time) entry {
	for port, l := range e {
		if now.After(l.Until) {
			delete(e, port)
		}
	}
	return e
}

// New returns the script.
func New(st *store.Store) *Page {
	return &Page{st: st, known: map[string]entry{}, ready: make(chan struct{}), askers: map[netip.Addr]*rate.Limiter{}}
}

// watch keeps up with the bucket, for as long as the connection to NATS lasts. Where NATS does not answer it is asked
// again.
func (p *Page) watch() {
	for fresh := p.ready; !p.st.Conn().IsClosed(); {
		w, err := p.st.Servers.WatchAll(context.Background())
		if err != nil {
			p.st.Mend()
			<-time.After(200 * time.Millisecond)
			continue
		}
		for e := range w.Updates() {
			if e == nil { // all that was there before
				if fresh != nil {
					close(fresh)
					fresh = nil
				}
				continue
			}
			var v entry
			if e.Operation() == jetstream.KeyValuePut && json.Unmarshal(e.Value(), &v) != nil {
				continue // not ours
			}
			p.hear(e.Key(), v)
		}
	}
}

// hear takes what an address has registered into the list, if there is room.
func (p *Page) hear(key string, v entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v = v.alive(p.st.Now())
	p.count -= len(p.known[key])
	delete(p.known, key)
	if len(v) > 0 && p.count+len(v) <= maxServers {
		p.known[key] = v
		p.count += len(v)
	}
}

// list returns the lines in the order of addresses and ports, and forgets those that have expired.
func (p *Page) list() (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.st.Now()
	for _, key := range slices.Sorted(maps.Keys(p.known)) {
		e := p.known[key]
		p.count -= len(e)
		e.alive(now)
		p.count += len(e)
		if len(e) == 0 {
			delete(p.known, key)
		}
		for _, port := range slices.Sorted(maps.Keys(e)) {
			lines = append(lines, e[port].Text)
		}
	}
	return lines
}

// asks reports whether an address may ask now.
func (p *Page) asks(from netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.swept) > askersTime {
		p.swept = now
		maps.DeleteFunc(p.askers, func(_ netip.Addr, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
	}
	l := p.askers[from]
	if l == nil {
		for a := range p.askers {
			if len(p.askers) < maxAskers {
				break
			}
			delete(p.askers, a)
		}
		l = rate.NewLimiter(perSecond, cmp.Or(p.AtOnce, atOnce))
		p.askers[from] = l
	}
	return l.Allow()
}

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.watched.Do(func() { go p.watch() })
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// What servers say of themselves is text, whatever it looks like.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "ask with GET", http.StatusMethodNotAllowed)
		return
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	ip := from.Addr().Unmap()
	if !p.asks(doors.Customer(ip)) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too often: ask again in a second", http.StatusTooManyRequests)
		return
	}
	m, wrong := question(r.URL)
	if wrong != nil {
		http.Error(w, wrong.Error(), http.StatusBadRequest)
		return
	}
	if err != nil || !ip.Is4() {
		http.Error(w, "the list has addresses of IPv4 alone", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	select {
	case <-p.ready:
	case <-ctx.Done():
		http.Error(w, "the list is not here yet", http.StatusServiceUnavailable)
		return
	}
	page, err := p.answer(ctx, ip, m)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write(page)
}

// answer does what is asked, and returns the page.
func (p *Page) answer(ctx context.Context, ip netip.Addr, m registration.Message) ([]byte, error) {
	var page []byte
	var err error
	say := func(m registration.Message) {
		if err == nil {
			page, err = registration.AppendMessage(page, &m)
		}
	}
	a := ip.As4()
	switch m.Kind {
	case registration.MessageReg:
		b := func(i int) registration.Byte { return registration.Byte(a[i]) }
		var text []byte
		text, err = registration.AppendMessage(nil, &registration.Message{Kind: registration.MessageEntry,
			Entry: registration.EntryMessage{Version: m.Reg.Version, Name: m.Reg.Name, Port: m.Reg.Port,
				Region: m.Reg.Region,
				Ip:     registration.Ip{A: b(0), B: b(1), C: b(2), D: b(3)}}})
		if err != nil {
			return nil, err
		}
		room := false
		err = p.change(ctx, key(a), func(e entry) bool {
			_, there := e[m.Reg.Port]
			if room = there || len(e) < maxPerAddress && p.room(); room {
				e[m.Reg.Port] = line{string(text), p.st.Now().Add(store.ServerTTL).UTC()}
			}
			return room
		})
		if !room {
			break // a page without the mark says that there is no place
		}
		say(registration.Message{Kind: registration.MessageDone})
	case registration.MessageUnreg:
		err = p.change(ctx, key(a), func(e entry) bool {
			_, there := e[m.Unreg.Port]
			delete(e, m.Unreg.Port)
			return there
		})
		say(registration.Message{Kind: registration.MessageDone})
	default:
		say(registration.Message{Kind: registration.MessageFirst})
		for _, text := range p.list() {
			page = append(page, text...)
		}
		say(registration.Message{Kind: registration.MessageLast})
	}
	say(registration.Message{Kind: registration.MessageBottom})
	return page, err
}

// key is where the entry of an address is.
func key(ip [4]byte) string { return fmt.Sprintf("address.%08x", ip) }

// change calls f with what an address has registered, and writes it if f wants that. Where another script has written
// meanwhile, f is called again with what is there now.
func (p *Page) change(ctx context.Context, key string, f func(entry) bool) error {
	for {
		v, rev := entry{}, uint64(0)
		e, err := p.st.Servers.Get(ctx, key)
		switch {
		case err == nil:
			rev = e.Revision()
			if err := json.Unmarshal(e.Value(), &v); err != nil {
				return fmt.Errorf("what %s has registered cannot be read: %w", key, err)
			}
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return err
		}
		if v.alive(p.st.Now()); !f(v) {
			return nil
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		switch {
		case rev == 0:
			_, err = p.st.Servers.Create(ctx, key, b)
		case len(v) == 0:
			err = p.st.Servers.Delete(ctx, key, jetstream.LastRevision(rev))
		default:
			_, err = p.st.Servers.Update(ctx, key, b, rev)
		}
		if !store.Late(err) {
			return err
		}
	}
}

// room reports whether the list has room for one more.
func (p *Page) room() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count < maxServers
}

// question returns what an address asks.
func question(u *url.URL) (m registration.Message, err error) {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return m, errors.New("there is a % too much")
	}
	for k, values := range q {
		if len(values) != 1 || !slices.Contains([]string{"version", "action", "name", "port", "cont"}, k) {
			return m, fmt.Errorf("%q does not belong here, or comes twice", k)
		}
	}
	port, err := strconv.ParseUint(q.Get("port"), 10, 16)
	if len(q) > 0 && (err != nil || port == 0) {
		return m, errors.New("say which server: &port=PORT")
	}
	switch action := q.Get("action"); {
	case len(q) == 0:
		m.Kind = registration.MessageList
		return m, nil
	case action == "unreg":
		m.Kind, m.Unreg.Port = registration.MessageUnreg, registration.Port(port)
	case action == "reg":
		version, a := registration.NewVersion(q.Get("version"))
		name, b := registration.NewName(q.Get("name"))
		region, c := registration.NewRegion(q.Get("cont"))
		if !a || !b || !c {
			return m, errors.New("a version has at most 15 bytes, a name and a region at most 31")
		}
		m.Kind = registration.MessageReg
		m.Reg = registration.RegMessage{Version: version, Name: name, Port: registration.Port(port), Region: region}
	default:
		return m, errors.New("the action is reg or unreg")
	}
	if _, err := registration.AppendMessage(nil, &m); err != nil {
		return m, fmt.Errorf("this cannot be a line of the list: %w", err)
	}
	return m, nil
}
