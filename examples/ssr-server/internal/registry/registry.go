// Package registry has the machines of the protocol registration speak HTTP: their questions are GET requests, and the
// lines of a page are their answers. So the script, who registers and who looks for servers work with any other
// program that speaks HTTP, in place of the one at the other end.
//
// What is asked, when it is asked again, and where, the machines decide; it knows requests and pages. Start from
// [Look], [Register] and [Site].
package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// Where is where the script is: by the configuration, and by the file that says so if it gives no answer.
type Where struct{ Script, Page string }

// Server is an entry of the list.
type Server struct {
	Version, IP, Name, Region string
	Port                      int
}

// Address is where the server is.
func (s Server) Address() string { return fmt.Sprintf("%s:%d", s.IP, s.Port) }

func serverOf(e *registration.Entry) Server {
	ip := fmt.Sprintf("%d.%d.%d.%d", e.Ip.A, e.Ip.B, e.Ip.C, e.Ip.D)
	return Server{e.Version.String(), ip, e.Name.String(), e.Region.String(), int(e.Port)}
}

const (
	timeout  = 25 * time.Second // for a page; the machine waits for a little longer
	mostPage = 1 << 20          // bytes of a page
	mostLine = 512              // of a line, as the specification has it
)

// asker makes connections for a machine that reports where it wants one.
type asker struct {
	client http.Client
	attach func(fsm.Peer, transport.Link) error
	last   fsm.Peer
	why    atomic.Pointer[error] // what was wrong with the last answer that was asked for
}

// none says that no script gives an answer, and why the last one did not.
func (a *asker) none() error {
	if why := a.why.Load(); why != nil {
		return fmt.Errorf("%w: %w", ErrNone, *why)
	}
	return ErrNone
}

// peers is how many numbers there are for connections; an old one has long ended when its number comes again.
const peers = 60

// dial gives the machine a connection to a host of the web, and returns its number.
func (a *asker) dial(ctx context.Context) (fsm.Peer, error) {
	a.last = a.last%peers + 1
	near, far := mem.Pair(mem.Config{Stream: true})
	if err := a.attach(a.last, near); err != nil {
		far.Abort()
		return 0, err
	}
	go a.answer(ctx, far)
	return a.last, nil
}

// answer makes a request of the line that comes, and lines of the page.
func (a *asker) answer(ctx context.Context, far *mem.Link) {
	stop := context.AfterFunc(ctx, func() { far.Abort() })
	defer stop()
	var line []byte
	for buf := make([]byte, mostLine); len(line) == 0 || line[len(line)-1] != '\n'; {
		got, err := far.Receive(buf)
		if err != nil {
			return
		}
		line = append(line, buf[:got.N]...)
	}
	if err := a.page(ctx, line, far); err != nil {
		if !errors.Is(err, errNowhere) {
			a.why.Store(&err)
		}
		far.Abort() // the machine hears that the connection is lost
		return
	}
	far.Flush()
	far.Close()
}

// errNowhere says that no page was configured in which to look for the script.
var errNowhere = errors.New("no address to ask")

func (a *asker) page(ctx context.Context, line []byte, far *mem.Link) error {
	where, err := address(line)
	if err != nil {
		return err
	}
	if where == "" {
		return errNowhere
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return err
	}
	res, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	for r := bufio.NewReader(io.LimitReader(res.Body, mostPage)); ; {
		l, err := r.ReadString('\n')
		if frame := meant(l); frame != nil {
			if err := far.Send(0, frame); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return far.Send(0, bottom)
		}
		if err != nil {
			return err
		}
	}
}

var bottom, _ = registration.AppendMessage(nil, &registration.Message{Kind: registration.MessageBottom})

// meant returns the frame of a page's line that means something, nil for anything else.
func meant(line string) []byte {
	line = strings.TrimRight(line, "\r\n")
	var m registration.Message
	if len(line) >= mostLine || registration.DecodeMessage([]byte(line+"\n"), &m) != nil {
		return nil
	}
	switch m.Kind {
	case registration.MessageFirst, registration.MessageEntry, registration.MessageLast, registration.MessageDone,
		registration.MessageLocation:
		return []byte(line + "\n")
	}
	return nil
}

// address returns what a question of the machine is asked for, as the document writes it.
func address(frame []byte) (string, error) {
	var m registration.Message
	if err := registration.DecodeMessage(frame, &m); err != nil {
		return "", err
	}
	switch m.Kind {
	case registration.MessageReg:
		q := url.QueryEscape
		return fmt.Sprintf("%s?version=%s&action=reg&name=%s&port=%d&cont=%s", m.Reg.Script,
			q(m.Reg.Version.String()), q(m.Reg.Name.String()), m.Reg.Port, q(m.Reg.Region.String())), nil
	case registration.MessageUnreg:
		return fmt.Sprintf("%s?action=unreg&port=%d", m.Unreg.Script, m.Unreg.Port), nil
	case registration.MessageList:
		return m.List.Script.String(), nil
	}
	return "", fmt.Errorf("%s is no question", m.String())
}

// urlOf checks an address of the web.
func urlOf(s string) (registration.Url, error) {
	u, err := url.Parse(s)
	t, ok := registration.NewUrl(s)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == ""
	if s != "" && !web || !ok || strings.ContainsAny(s, " ?") {
		return t, fmt.Errorf("%q is no address such as http://example.org/servers, of at most 127 bytes", s)
	}
	return t, nil
}

func (w Where) urls() (script, page registration.Url, err error) {
	if script, err = urlOf(w.Script); err == nil {
		page, err = urlOf(w.Page)
	}
	return script, page, err
}

// ErrNone is returned if no script gives an answer.
var ErrNone = errors.New("no registration script gives an answer")

// Look asks which servers there are.
func Look(ctx context.Context, where Where) ([]Server, error) {
	script, page, err := where.urls()
	if err != nil {
		return nil, err
	}
	r, err := registration.NewClientRunner(page)
	if err != nil {
		return nil, err
	}
	var servers []Server
	found := false
	var d *driver.Driver[*registration.ClientRunner]
	a := &asker{client: http.Client{Timeout: timeout}}
	h := &registration.ClientHandlers{
		Dial: func(registration.ClientDialReport) {
			to, err := a.dial(ctx)
			d.Post(func(r *registration.ClientRunner) fsm.Result {
				if err != nil {
					return r.Undialed()
				}
				return r.Dialed(to)
			})
		},
		Servers: func(l registration.ClientServersReport) {
			found = true
			for i := range l.List.Items[:l.List.Len] {
				servers = append(servers, serverOf(&l.List.Items[i]))
			}
			d.Stop()
		},
		Nothing: func() { d.Stop() },
	}
	d = driver.New(r, driver.Options[*registration.ClientRunner]{OnReport: h.OnReport})
	a.attach = d.Attach
	if err := d.Post(func(r *registration.ClientRunner) fsm.Result { return r.Look(script) }); err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	if !found {
		return nil, a.none()
	}
	return servers, nil
}

// About is what a server says of itself.
type About struct {
	Version, Name, Region string
	Port                  int
}

// check returns these as the protocol has them.
func (a About) check() (v registration.Version, n registration.Name, r registration.Region, err error) {
	var ok [3]bool
	v, ok[0] = registration.NewVersion(a.Version)
	n, ok[1] = registration.NewName(a.Name)
	r, ok[2] = registration.NewRegion(a.Region)
	m := registration.Message{Kind: registration.MessageReg, Reg: registration.RegMessage{Version: v, Name: n,
		Port: registration.Port(a.Port), Region: r}}
	_, bad := registration.AppendMessage(nil, &m)
	switch control := strings.IndexFunc(a.Version+a.Name+a.Region, unicode.IsControl) >= 0; {
	case !ok[0]:
		err = errors.New("a version has at most 15 bytes")
	case !ok[1]:
		err = errors.New("a name has at most 31 bytes")
	case !ok[2]:
		err = errors.New("a region has at most 31 bytes")
	case a.Port < 1 || a.Port > 65535:
		err = errors.New("a port is a number from 1 to 65535")
	case bad != nil || control:
		err = errors.New("versions, names and regions have no & and ; and no control characters, " +
			"and versions no blanks")
	}
	return v, n, r, err
}

// Check says what is wrong with what a server says of itself.
func (a About) Check(where Where) error {
	if _, _, err := where.urls(); err != nil {
		return err
	}
	_, _, _, err := a.check()
	return err
}

// Register keeps a server in the list until ctx ends, and takes it out then. It calls told, from one goroutine, when
// players can find the server, and when they cannot.
func Register(ctx context.Context, where Where, about About, told func(listed bool)) error {
	script, page, err := where.urls()
	if err != nil {
		return err
	}
	v, n, region, err := about.check()
	if err != nil {
		return err
	}
	r, err := registration.NewServerRunner(page, v, n, registration.Port(about.Port), region)
	if err != nil {
		return err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var d *driver.Driver[*registration.ServerRunner]
	a := &asker{client: http.Client{Timeout: timeout}}
	h := &registration.ServerHandlers{
		Dial: func(registration.ServerDialReport) {
			to, err := a.dial(life)
			d.Post(func(r *registration.ServerRunner) fsm.Result {
				if err != nil {
					return r.Undialed()
				}
				return r.Dialed(to)
			})
		},
		Listed:   func() { told(true) },
		Unlisted: func() { told(false) },
	}
	d = driver.New(r, driver.Options[*registration.ServerRunner]{OnReport: h.OnReport, StopAtFinal: true,
		OnState: func(r *registration.ServerRunner, _, _ uint16) { endIn(ctx, d, r) }})
	a.attach = d.Attach
	stop := context.AfterFunc(ctx, func() {
		d.Post((*registration.ServerRunner).End) // refused while it registers; then OnState gives it
		time.AfterFunc(goodbye, end)
	})
	defer stop()
	if err := d.Post(func(r *registration.ServerRunner) fsm.Result { return r.Begin(script) }); err != nil {
		return err
	}
	if err := d.Run(life); err != nil && life.Err() == nil {
		return err
	}
	return nil
}

// goodbye is how long a server may take to say that it is no longer there.
const goodbye = 3 * time.Second

// endIn ends a server that was told to end while it registered, as soon as it can be.
func endIn(ctx context.Context, d *driver.Driver[*registration.ServerRunner], r *registration.ServerRunner) {
	switch s := r.Machine.State; {
	case ctx.Err() == nil:
	case s == registration.ServerStateListed, s == registration.ServerStateUnlisted:
		d.Post((*registration.ServerRunner).End)
	}
}
