// Package traffic holds recorded traffic, captures as well as traces, against
// a specification, and renders what was found for people and for programs. It
// is what `fsmgen replay` and `fsmgen demo` share; the search itself is in
// gen/replay. Start from [Replay].
package traffic

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/trace"
)

// Options say how traffic is read.
type Options struct {
	// Ports keeps only connections with one of these ports; empty: all.
	Ports []uint16
	// Channels says where each of several channels is, by name.
	Channels map[string]Port
	// Hosts are those to explain in captures of broadcast protocols; empty: all that are of the
	// protocol.
	Hosts []netip.AddrPort
	// Consts are those with which the protocol was compiled.
	Consts map[string]int64
	// Search bounds the search for a run.
	Search replay.Options
}

// Report is the result for one file.
type Report struct {
	File string
	Spec string
	Hash string
	// Capture and Conns are for packet captures, Trace for traces.
	Capture *capture.Capture
	// Damage is why a capture could not be read to its end; empty if it could.
	Damage string
	Conns  []*Conn
	// Hubs are servers that only all of their conversations together explain, which then have the client's side alone.
	Hubs []*Hub
	// Network is for captures of broadcast protocols, instead of Conns.
	Network *Network
	Trace   *replay.Trace
	// TraceDamage is why a trace could not be read to its end.
	TraceDamage string

	protocol *model.Protocol
	// ways is in how many ways conversations of several channels could be put together, fitting how many of them
	// are runs.
	ways, fitting int
}

// Conn is the result for one connection of a capture.
type Conn struct {
	*capture.Conn
	Recording *replay.Recording
	Sides     []*replay.Side
	// Beside are the conversations of the other channels of a protocol with several.
	Beside []*capture.Conn

	channels []model.Channel
	of       []int // the channels of Conn and Beside
	// What was said in it, from which the recording is made.
	chunks    []replay.Chunk
	datagrams []bool
	// half is the side of which alone there are packets, -1 if there are of both; open: what that side sent needs
	// frames of the other one that are not in the capture, or no run was found that has them.
	half int
	open bool
}

// name is the name of a channel; empty if there is one.
func (c *Conn) name(channel int) string {
	if len(c.channels) < 2 {
		return ""
	}
	return c.channels[channel].Name
}

// over says over which channel something went, with a blank before it; empty if there is one.
func (c *Conn) over(channel int) string {
	if name := c.name(channel); name != "" {
		return " over " + name
	}
	return ""
}

// Accepted reports whether everything in the file is a run of the protocol.
func (r *Report) Accepted() bool {
	if r.Damage != "" || r.TraceDamage != "" || len(r.lacking()) > 0 {
		return false
	}
	if r.Trace != nil {
		return r.Trace.Deviation == nil
	}
	if r.Network != nil {
		return r.Network.accepted()
	}
	return r.explained()
}

// explained reports whether all connections, as far as they were read, are runs.
func (r *Report) explained() bool {
	for _, c := range r.Conns {
		if !c.Accepted() {
			return false
		}
	}
	return len(r.Conns) > 0 && !slices.ContainsFunc(r.Hubs, func(h *Hub) bool { return !h.Side.Accepted })
}

// Accepted reports whether the connection is a run of the protocol.
func (c *Conn) Accepted() bool {
	if c.Recording.Fault != nil || c.open {
		return false
	}
	for _, s := range c.Sides {
		if !s.Accepted {
			return false
		}
	}
	return true
}

// Exhausted reports whether the search for some side ended at its bound, or the capture lacks the
// beginning of some host, or packets were left out that may not be part of a run, or the file is damaged.
func (r *Report) Exhausted() bool {
	if r.Network != nil {
		return r.Network.unknown() || r.Network.accepted() && (r.Damage != "" || len(r.lacking()) > 0)
	}
	if r.Trace != nil {
		return r.Trace.Deviation == nil && r.TraceDamage != ""
	}
	if r.explained() && (r.Damage != "" || len(r.lacking()) > 0) {
		return true
	}
	open := false
	for _, h := range r.Hubs {
		if !h.Side.Accepted && h.Side.Exhausted {
			return true
		}
		if !h.Side.Accepted && !h.partial() {
			return false
		}
		open = open || h.partial()
	}
	for _, c := range r.Conns {
		if c.lacks() {
			open = true
			continue
		}
		for _, s := range c.Sides {
			if !s.Accepted && s.Exhausted {
				return true
			}
		}
		if !c.Accepted() {
			return false
		}
	}
	return open
}

// lacks reports whether all of the connection that the capture has is a run, as far as anybody can say, and some is
// missing.
func (c *Conn) lacks() bool {
	if f := c.Recording.Fault; f != nil && !f.Gap {
		return false
	}
	for _, s := range c.Sides {
		if !s.Accepted && !c.open && !c.before(s) {
			return false
		}
	}
	return c.open || c.Recording.Fault != nil || !c.Accepted()
}

// before reports whether something is missing from the capture before the first frame of a side that has no
// explanation: its beginning, or packets of the connection.
func (c *Conn) before(s *replay.Side) bool {
	if s.Refusal != nil || s.Frontier >= len(c.Recording.Frames) {
		return false
	}
	at := c.Recording.Frames[s.Frontier].Packet
	for _, x := range c.lacking() {
		if x.First <= at {
			return true
		}
	}
	f := c.Recording.Fault
	return c.Proto == "tcp" && !c.Handshake || f != nil && f.Gap && f.Packet <= at
}

// Replay reads file and holds it against p. The error is for files that cannot
// be read at all; deviations are in the report.
func Replay(ctx context.Context, p *model.Protocol, file string, o Options) (*Report, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // who waits for a pipe is woken
	return Read(ctx, p, file, f, o)
}

// patient is a reader that ends with a context, for files that have no end of their own.
type patient struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (r patient) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.in.Read(b)
	if end := r.ctx.Err(); end != nil && err != nil && err != io.EOF {
		err = end
	}
	return n, err
}

// Read is [Replay] for a file that is open already; its name is for the report. What gzip has packed is unpacked.
func Read(ctx context.Context, p *model.Protocol, file string, in io.Reader, o Options) (*Report, error) {
	if err := o.named(p); err != nil {
		return nil, err
	}
	r := &Report{File: file, Spec: p.Files[0], Hash: p.Hash, protocol: p}
	b := bufio.NewReaderSize(patient{ctx, in}, 1<<16)
	if magic, _ := b.Peek(2); string(magic) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		b = bufio.NewReaderSize(unpacked, 1<<16)
	}
	start, _ := b.Peek(512)
	if bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n\ufeff"), []byte("{")) {
		return r, r.trace(p, b)
	}
	at, err := o.channels(p)
	if err != nil {
		if c, damage := capture.Read(b, capture.Options{}); damage != nil && c.Packets == 0 {
			err = fmt.Errorf("%s: %w%s", file, damage, orRecord(damage))
		}
		return nil, err
	}
	c, err := capture.Read(b, capture.Options{Ports: at.among(o.Ports)})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		var limit *capture.LimitError
		if c.Packets == 0 || errors.As(err, &limit) {
			return nil, fmt.Errorf("%s: %w%s", file, err, orRecord(err))
		}
		r.Damage = err.Error()
	}
	r.Capture = c
	if replay.Broadcast(p) {
		if err := p.OneChannel("replay of a network"); err != nil {
			return nil, err
		}
		return r, r.network(ctx, p, c, o)
	}
	if len(o.Hosts) > 0 {
		return nil, fmt.Errorf("--host is for protocols with addresses in their frames; %s has none", p.Name)
	}
	return r, r.capture(ctx, p, c, o, at)
}

// orRecord names what else is read, where a file is neither.
func orRecord(err error) string {
	if errors.Is(err, capture.ErrNoCapture) {
		return "; records (.jsonl) are read, too"
	}
	return ""
}

func (r *Report) trace(p *model.Protocol, b *bufio.Reader) error {
	tr, err := trace.NewReader(b)
	if err != nil {
		return fmt.Errorf("%s: %w", r.File, err)
	}
	t, err := replay.Check(p, tr)
	if t == nil {
		return fmt.Errorf("%s: %w", r.File, err)
	}
	r.Trace = t
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err != nil {
		r.TraceDamage = cli.Describe(err)
	}
	return nil
}

func (r *Report) capture(ctx context.Context, p *model.Protocol, c *capture.Capture, o Options, at places) error {
	talks, open, err := at.talks(p, c)
	if err != nil {
		return fmt.Errorf("%s: %w", r.File, err)
	}
	if err := r.together(ctx, p, c, o, talks, open); err != nil {
		return err
	}
	if len(r.Conns) == 0 {
		return fmt.Errorf("%s: no TCP connection or UDP conversation in it carries any bytes%s%s", r.File,
			ports(at.among(o.Ports)), skipped(c))
	}
	return r.hubs(ctx, p, o)
}

// together explains talks. Where open conversations may belong to several of them, all ways are tried; of these the
// one counts that explains everything, or else the most.
func (r *Report) together(ctx context.Context, p *model.Protocol, c *capture.Capture, o Options, talks []*talk,
	open []openConn) (err error) {
	known, best := map[string]*Conn{}, -1
	r.ways = ways(open)
	assign(open, func(to []*talk) bool {
		var list []*talk
		for _, g := range talks {
			mine := *g
			mine.conns, mine.of, mine.turned = slices.Clone(g.conns), slices.Clone(g.of), slices.Clone(g.turned)
			for k, x := range to {
				if x == g {
					mine.add(open[k].conn, open[k].channel, open[k].turned)
				}
			}
			list = append(list, &mine)
		}
		listen(list, c)
		var conns []*Conn
		explained, all := 0, true
		for _, g := range list {
			key := ""
			for _, x := range g.conns {
				key += fmt.Sprint(x.Proto, x.Client, x.Server, x.First, " ")
			}
			if known[key] == nil {
				if known[key], err = g.explain(ctx, p, o); err != nil {
					return false
				}
			}
			conns = append(conns, known[key])
			all = all && known[key].Accepted()
			for _, s := range known[key].Sides {
				explained += s.Sent + s.Read
			}
		}
		if all {
			r.fitting++
		}
		if all && r.fitting == 1 {
			explained = 1 << 30
		}
		if explained > best {
			best, r.Conns = explained, conns
		}
		return true
	})
	return err
}

// explain explains both sides of a talk.
func (g *talk) explain(ctx context.Context, p *model.Protocol, o Options) (*Conn, error) {
	rec := replay.Split(p, g.chunks, g.datagrams...)
	conn := &Conn{Conn: g.conns[0], Recording: rec, Beside: g.conns[1:], channels: p.Channels(), of: g.of,
		half: g.half(), chunks: g.chunks, datagrams: g.datagrams}
	for side := range 2 {
		if m := replay.Outside(rec, side); m != nil {
			conn.Sides = append(conn.Sides, &replay.Side{Side: side, Role: m.Name, External: true, Accepted: true})
			continue
		}
		s, err := replay.Explain(ctx, rec, side, replay.Ours(p), o.Search)
		if err != nil {
			return nil, err
		}
		conn.Sides = append(conn.Sides, s)
	}
	return conn, conn.complete(ctx, p, o.Search)
}

func ports(list []uint16) string {
	if len(list) == 0 {
		return ""
	}
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = fmt.Sprint(p)
	}
	return " on port " + strings.Join(words, " or ")
}
