// Package page is SSR's registration script over a bucket of NATS: any of a cluster's servers can be asked, and all
// know of every game server that has registered. Lines are those of machines/registration.
//
// It must not know what a game server is. Start from [New].
package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/machines/registration"
)

// maxServers is how many servers are listed, and maxPerAddress how many of one address.
const (
	maxServers    = 10000
	maxPerAddress = 16
)

// Page is an [http.Handler].
type Page struct {
	st *store.Store

	mu      sync.Mutex
	known   map[string]known // by key; what others have registered, too
	ready   chan struct{}    // closed when known is as the bucket was when we began
	watched sync.Once
}

// known is a line of the list, and until when it stands there.
type known struct {
	line  string
	until time.Time
}

// New returns the script.
func New(st *store.Store) *Page {
	return &Page{st: st, known: map[string]known{}, ready: make(chan struct{})}
}

// watch keeps up with the bucket, for as long as the connection to NATS lasts.
func (p *Page) watch() {
	w, err := p.st.Servers.WatchAll(context.Background())
	if err != nil {
		return // who asks waits in vain, and is told so
	}
	go func() {
		fresh := p.ready
		for e := range w.Updates() {
			if e == nil { // all that was there before
				close(fresh)
				continue
			}
			p.mu.Lock()
			until := e.Created().Add(store.ServerTTL)
			if e.Operation() != jetstream.KeyValuePut || time.Now().After(until) {
				delete(p.known, e.Key())
			} else if _, old := p.known[e.Key()]; old || len(p.known) < maxServers {
				p.known[e.Key()] = known{string(e.Value()), until}
			}
			p.mu.Unlock()
		}
	}()
}

// list returns the lines in the order of their keys, and forgets those that have expired.
func (p *Page) list() (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var keys []string
	for k, v := range p.known {
		if time.Now().After(v.until) {
			delete(p.known, k)
		} else {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		lines = append(lines, p.known[k].line)
	}
	return lines
}

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.watched.Do(p.watch)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// What servers say of themselves is text, whatever it looks like.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "ask with GET", http.StatusMethodNotAllowed)
		return
	}
	m, err := question(r.URL)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	ip := from.Addr().Unmap()
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
	key := func(port registration.Port) string { return fmt.Sprintf("server.%08x.%d", a[:], port) }
	switch m.Kind {
	case registration.MessageReg:
		if !p.room(key(m.Reg.Port), fmt.Sprintf("server.%08x.", a[:])) {
			break // a page without the mark says that there is no place
		}
		b := func(i int) registration.Byte { return registration.Byte(a[i]) }
		var line []byte
		line, err = registration.AppendMessage(nil, &registration.Message{Kind: registration.MessageEntry,
			Entry: registration.EntryMessage{Version: m.Reg.Version, Name: m.Reg.Name, Port: m.Reg.Port,
				Region: m.Reg.Region,
				Ip:     registration.Ip{A: b(0), B: b(1), C: b(2), D: b(3)}}})
		if err == nil {
			_, err = p.st.Servers.Put(ctx, key(m.Reg.Port), line)
		}
		say(registration.Message{Kind: registration.MessageDone})
	case registration.MessageUnreg:
		err = p.st.Servers.Delete(ctx, key(m.Unreg.Port))
		say(registration.Message{Kind: registration.MessageDone})
	default:
		say(registration.Message{Kind: registration.MessageFirst})
		for _, line := range p.list() {
			page = append(page, line...)
		}
		say(registration.Message{Kind: registration.MessageLast})
	}
	say(registration.Message{Kind: registration.MessageBottom})
	return page, err
}

// room reports whether there is a place for an entry.
func (p *Page) room(key, address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := p.known[key]; there {
		return true
	}
	same := 0
	for k := range p.known {
		if len(k) > len(address) && k[:len(address)] == address {
			same++
		}
	}
	return len(p.known) < maxServers && same < maxPerAddress
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
