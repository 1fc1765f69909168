// Package tftp reads and writes files with the machine of specs/library/tftp, as a client or a server. It
// must not know what the packets mean: that is in the specification. Start from [Get], [Put] and [Serve].
package tftp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parley-go/parley/machines/tftp"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// blockSize is how many bytes a block has; a shorter one is the last.
const blockSize = len(tftp.Data{}.Data)

// Dial returns a link to a server. The server answers from a port of its own: that is peer 1.
func Dial(address string) (transport.Link, error) {
	return udp.Open("udp", "", udp.Config{Peers: []string{address}, Limits: udp.Limits{MaxPeers: 4}})
}

// Get reads a file from the server at the other end of link, which it closes.
func Get(ctx context.Context, link transport.Link, name string, to io.Writer) error {
	return ask(ctx, link, name, nil, to)
}

// Put writes a file to the server at the other end of link, which it closes.
func Put(ctx context.Context, link transport.Link, name string, from io.Reader) error {
	return ask(ctx, link, name, from, nil)
}

// ask carries one transfer out. It returns when the file is there. The machine then stays for a while, in
// case its last acknowledgement was lost.
func ask(ctx context.Context, link transport.Link, name string, from io.Reader, to io.Writer) error {
	file, ok := tftp.NewFile(name)
	if !ok {
		return fmt.Errorf("the name has %d bytes: too many", len(name))
	}
	var d *driver.Driver[*tftp.PeerRunner]
	end := make(chan error, 1)
	finish := func(err error) {
		select {
		case end <- err:
		default: // the first one counts
		}
	}
	h := &tftp.PeerHandlers{
		Next: func() {
			data, err := block(from)
			if err != nil {
				finish(err)
			} else if err := d.Post(func(r *tftp.PeerRunner) fsm.Result { return r.Give(data) }); err != nil {
				finish(err)
			}
		},
		Block: func(b tftp.BlockReport) {
			if _, err := to.Write(b.Data.Data[:b.Data.Len]); err != nil {
				finish(err)
			}
		},
		Done:   func() { finish(nil) },
		Failed: func(f tftp.FailedReport) { finish(refusal(f)) },
	}
	d = driver.New(tftp.NewPeerRunner(true), driver.Options[*tftp.PeerRunner]{StopAtFinal: true, OnReport: h.OnReport})
	if err := d.Attach(0, link); err != nil {
		return err
	}
	go func() { finish(d.Run(context.WithoutCancel(ctx))) }()
	if _, err := d.Do(ctx, func(r *tftp.PeerRunner) fsm.Result {
		if to != nil {
			return r.Get(file, tftp.Options{})
		}
		return r.Put(file, tftp.Options{})
	}); err != nil {
		d.Stop()
		return err
	}
	select {
	case err := <-end:
		if err != nil {
			d.Stop()
		}
		return err
	case <-ctx.Done():
		d.Stop()
		return ctx.Err()
	}
}

func refusal(f tftp.FailedReport) error {
	if f.Code == 0 && f.Text.Len == 0 {
		return errors.New("nobody answers")
	}
	return fmt.Errorf("error %d: %s", f.Code, f.Text)
}

// block reads the next block; it is short at the end of the file.
func block(from io.Reader) (tftp.Data, error) {
	var d tftp.Data
	n, err := io.ReadFull(from, d.Data[:blockSize])
	d.Len = uint16(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return d, err
}

// Files are what a server has: Open for reading, Create for writing. Close comes when all is written.
type Files interface {
	Open(name string) (io.Reader, error)
	Create(name string) (io.WriteCloser, error)
}

// Serve serves files to everybody who asks at the link, until ctx ends. It has one machine for each client.
func Serve(ctx context.Context, link transport.Link, files Files) error {
	type session struct {
		from io.Reader
		to   io.WriteCloser
	}
	sessions := map[int]*session{}
	var host *driver.Host[*tftp.PeerRunner, tftp.Peer]
	h := &tftp.PeerHandlers{
		Asked: func(a tftp.AskedReport) {
			s := &session{}
			var err error
			if a.Reads {
				s.from, err = files.Open(a.Name.String())
			} else {
				s.to, err = files.Create(a.Name.String())
			}
			sessions[host.Peer()] = s
			host.Post(host.Peer(), func(r *tftp.PeerRunner) fsm.Result {
				if err != nil {
					text, _ := tftp.NewText("there is no such file")
					return r.Refuse(1, text)
				}
				return r.Accept(tftp.Options{})
			})
		},
		Next: func() {
			data, err := block(sessions[host.Peer()].from)
			if err != nil {
				return // the client gives up in the end
			}
			host.Post(host.Peer(), func(r *tftp.PeerRunner) fsm.Result { return r.Give(data) })
		},
		Block: func(b tftp.BlockReport) { sessions[host.Peer()].to.Write(b.Data.Data[:b.Data.Len]) },
		Done: func() {
			if s := sessions[host.Peer()]; s.to != nil {
				s.to.Close()
			}
		},
	}
	host, err := driver.NewHost(tftp.NewPeerRunner(false), func(r *tftp.PeerRunner) *tftp.Peer { return &r.Machine },
		nil, link, driver.Options[*tftp.PeerRunner]{
			OnReport: h.OnReport,
			OnLink: func(_ *tftp.PeerRunner, _ fsm.Peer, up bool, _ error) {
				if !up {
					delete(sessions, host.Peer())
				}
			},
		})
	if err != nil {
		return err
	}
	return host.Run(ctx)
}
