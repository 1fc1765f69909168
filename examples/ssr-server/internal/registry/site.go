package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// Site is the registration script behind a web server: an [http.Handler]. Its list is in a file, which is written
// before anybody is told that it has changed. What cannot be written has not changed.
type Site struct {
	Path string // of the script in addresses
	File string // where the list is kept, "" if nowhere
	Log  *slog.Logger

	d       *driver.Driver[*registration.ScriptRunner]
	free    chan *line
	refused atomic.Uint64

	mu    sync.RWMutex // a change and its file are one: who asks for the list waits for both
	saved []byte
	lost  bool // the file could not be written, and that has been said
}

// line is one connection to the machine. A request has it to itself.
type line struct {
	peer fsm.Peer
	far  *mem.Link
	rest []byte
}

// mostFile is how large the file of the list may be.
const mostFile = 1 << 20

// lines is how many requests are answered at a time; others wait.
const lines = 16

// Refused is how many requests were none.
func (s *Site) Refused() uint64 { return s.refused.Load() }

// Start reads the list and runs the machine until ctx ends. It returns when requests can be answered.
func (s *Site) Start(ctx context.Context) error {
	r := registration.NewScriptRunner()
	if s.File != "" {
		if err := s.load(&r.Machine); err != nil {
			return err
		}
	}
	s.d = driver.New(r, driver.Options[*registration.ScriptRunner]{})
	s.free = make(chan *line, lines)
	for i := range lines {
		near, far := mem.Pair(mem.Config{Stream: true})
		if err := s.d.Attach(fsm.Peer(i+1), near); err != nil {
			return err
		}
		s.free <- &line{peer: fsm.Peer(i + 1), far: far}
	}
	go s.d.Run(ctx)
	if s.File == "" {
		return nil
	}
	return s.save(ctx) // whoever has named a file that cannot be written hears of it now
}

// ServeHTTP implements [http.Handler].
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// What servers say of themselves is text, whatever it looks like.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.URL.Path != s.Path {
		s.refuse(w, http.StatusNotFound, "the list of servers is at "+s.Path)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.refuse(w, http.StatusMethodNotAllowed, "ask with GET")
		return
	}
	m, err := question(r.URL)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	ip := from.Addr().Unmap()
	if err != nil || !ip.Is4() {
		s.refuse(w, http.StatusBadRequest, "the list has addresses of IPv4 alone")
		return
	}
	page, err := s.ask(r.Context(), ip, m)
	if err != nil {
		s.refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.Write(page)
}

func (s *Site) refuse(w http.ResponseWriter, code int, why string) {
	s.refused.Add(1)
	w.WriteHeader(code)
	fmt.Fprintln(w, why)
}

// question returns what an address asks.
func question(u *url.URL) (m registration.Message, err error) {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return m, errors.New("there is a % too much")
	}
	port, bad := strconv.Atoi(q.Get("port"))
	for key, values := range q {
		if len(values) != 1 || !slices.Contains([]string{"version", "action", "name", "port", "cont"}, key) {
			return m, fmt.Errorf("%q does not belong here, or comes twice", key)
		}
	}
	switch action := q.Get("action"); {
	case len(q) == 0:
		m.Kind = registration.MessageList
	case action == "reg":
		v, n, r, err := About{Version: q.Get("version"), Name: q.Get("name"), Region: q.Get("cont"), Port: port}.check()
		if err != nil {
			return m, err
		}
		m.Kind = registration.MessageReg
		m.Reg = registration.RegMessage{Version: v, Name: n, Port: registration.Port(port), Region: r}
	case action == "unreg" && bad == nil && port >= 1 && port <= 65535:
		m.Kind = registration.MessageUnreg
		m.Unreg.Port = registration.Port(port)
	case action == "unreg":
		return m, errors.New("say which server: &port=PORT")
	default:
		return m, errors.New("the action is reg or unreg")
	}
	return m, nil
}

// ask has the machine answer a request, and keeps its list before anybody hears of it.
func (s *Site) ask(ctx context.Context, ip netip.Addr, m registration.Message) ([]byte, error) {
	var l *line
	select {
	case l = <-s.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.free <- l }()
	ctx = context.WithoutCancel(ctx) // who goes away in the middle leaves nothing half done
	if m.Kind == registration.MessageList {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return s.answer(ctx, l, ip, m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.undo(ctx, ip, m)
	if err != nil {
		return nil, err
	}
	page, err := s.answer(ctx, l, ip, m)
	if err != nil {
		return nil, err
	}
	if err := s.save(ctx); err != nil {
		if !s.lost && s.Log != nil {
			s.Log.Error("the list cannot be written, so nothing in it changes", "error", err)
		}
		s.lost = true
		_, err = s.answer(ctx, l, ip, before)
		return nil, errors.Join(errors.New("the list cannot be written just now; it is as it was"), err)
	}
	s.lost = false
	return page, nil
}

// undo returns the message that makes of the list, after m, what it is now.
func (s *Site) undo(ctx context.Context, ip netip.Addr, m registration.Message) (back registration.Message, err error) {
	port := m.Unreg.Port
	if m.Kind == registration.MessageReg {
		port = m.Reg.Port
	}
	back.Kind = registration.MessageUnreg
	back.Unreg.Port = port
	err = s.d.Read(ctx, func(r *registration.ScriptRunner) {
		for i := range r.Machine.List {
			e := &r.Machine.List[i]
			if e.Present && e.Value.Port == port && e.Value.Ip == ipOf(ip) {
				back = registration.Message{Kind: registration.MessageReg, Reg: registration.RegMessage{
					Version: e.Value.Version, Name: e.Value.Name, Port: port, Region: e.Value.Region}}
			}
		}
	})
	return back, err
}

func ipOf(ip netip.Addr) registration.Ip {
	a := ip.As4()
	b := func(i int) registration.Byte { return registration.Byte(a[i]) }
	return registration.Ip{A: b(0), B: b(1), C: b(2), D: b(3)}
}

// answer has the machine answer a request, and returns the page.
func (s *Site) answer(ctx context.Context, l *line, ip netip.Addr, m registration.Message) ([]byte, error) {
	if _, err := s.d.Do(ctx, func(r *registration.ScriptRunner) fsm.Result {
		return r.Comes(l.peer, ipOf(ip))
	}); err != nil {
		return nil, err
	}
	frame, err := registration.AppendMessage(nil, &m)
	if err != nil {
		return nil, err
	}
	if err := l.far.Send(0, frame); err != nil {
		return nil, err
	}
	l.far.Flush()
	return l.page()
}

// page reads a page to its end.
func (l *line) page() ([]byte, error) {
	for buf := make([]byte, 4<<10); ; {
		if i := bytes.Index(l.rest, bottom); i >= 0 && (i == 0 || l.rest[i-1] == '\n') {
			page := bytes.Clone(l.rest[:i+len(bottom)])
			l.rest = l.rest[i+len(bottom):]
			return page, nil
		}
		got, err := l.far.Receive(buf)
		if err != nil {
			return nil, err
		}
		l.rest = append(l.rest, buf[:got.N]...)
	}
}

// record is an entry in the file.
type record struct {
	Place   int    `json:"place"`
	Version string `json:"version"`
	IP      string `json:"ip"`
	Port    int    `json:"port"`
	Name    string `json:"name"`
	Region  string `json:"region"`
}

// save writes the list if it has changed.
func (s *Site) save(ctx context.Context) error {
	if s.File == "" {
		return nil
	}
	list := []record{}
	if err := s.d.Read(ctx, func(r *registration.ScriptRunner) {
		for i := range r.Machine.List {
			if e := &r.Machine.List[i]; e.Present {
				x := serverOf(&e.Value)
				list = append(list, record{i, x.Version, x.IP, x.Port, x.Name, x.Region})
			}
		}
	}); err != nil {
		return err
	}
	text, err := json.MarshalIndent(list, "", "\t")
	if err != nil || bytes.Equal(text, s.saved) {
		return err
	}
	if err := replace(s.File, text); err != nil {
		return err
	}
	s.saved = text
	return nil
}

// replace writes a file whole or not at all, also if the computer stops meanwhile.
func replace(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// load reads the list that the machine begins with. A file that is not there is an empty list.
func (s *Site) load(m *registration.Script) error {
	info, err := os.Stat(s.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostFile) {
		err = fmt.Errorf("%s: it is no file of at most %d bytes", s.File, mostFile)
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(s.File)
	if err != nil {
		return err
	}
	var list []record
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	for _, x := range list {
		about := About{Version: x.Version, Name: x.Name, Region: x.Region, Port: x.Port}
		v, n, r, err := about.check()
		ip := net.ParseIP(x.IP).To4()
		if err != nil || ip == nil || x.Place < 0 || x.Place >= len(m.List) {
			return fmt.Errorf("%s: the entry of place %d is none: %v", s.File, x.Place, err)
		}
		b := func(i int) registration.Byte { return registration.Byte(ip[i]) }
		e := &m.List[x.Place]
		e.Present = true
		e.Value = registration.Entry{Version: v, Ip: registration.Ip{A: b(0), B: b(1), C: b(2), D: b(3)},
			Port: registration.Port(x.Port), Name: n, Region: r}
	}
	s.saved = text
	return nil
}
