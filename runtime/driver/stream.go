package driver

import (
	"fmt"
	"io"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// peerState is what the owner of a link knows of a peer. The peer's stream is handled while the
// peer is up.
type peerState struct {
	up      bool
	told    bool          // the machine has heard that it is up, or was
	heard   time.Duration // when the last whole frame came, or the link came up
	since   time.Duration // when the link came up
	greeted bool          // an acceptable message has come
}

// stream delivers the frames that the bytes of a stream begin with, one after the other, until the
// link to the peer is closed. It returns how many they were, and the bytes after them: the
// beginning of a frame. A link on which no frame begins where one should is closed.
func (c *Core[R]) stream(now time.Duration, who fsm.Peer, p *peerState, in []byte) (frames int, rest []byte) {
	c.sized = who
	for len(in) > 0 && p.up && !c.raw(who) {
		if c.plain && c.streamer != nil {
			n, used, more := c.together(now, who, p, in)
			frames, in = frames+n, in[used:]
			if more {
				continue
			}
		}
		size, err := transport.Cut(c.size, max(mostOn(c.info, c.on), 1), in)
		if err != nil {
			c.misaligned(now, who, in, err)
			break
		}
		if size == 0 {
			break
		}
		p.heard = now
		frames++
		if c.Frame(now, who, in[:size:size]) {
			p.greeted = true
		}
		in = in[size:]
	}
	return frames, in
}

// together delivers the frames at the start of in for which the machine has a plain outcome, and
// the one after these. It returns how many they were and their length; more reports whether there
// may be more.
func (c *Core[R]) together(now time.Duration, who fsm.Peer, p *peerState, in []byte) (frames, used int, more bool) {
	before := c.m.State()
	run := c.streamer.Stream(who, in, c.answers[:0], maxOut)
	c.answers = run.Out[:0]
	c.counters.FramesIn += uint64(run.Frames)
	c.counters.Steps += uint64(run.Frames)
	c.counters.BytesIn += uint64(run.Bytes)
	if run.Sent > 0 {
		if c.out.Send(who, run.Out) == nil {
			c.counters.FramesOut += uint64(run.Sent)
			c.counters.BytesOut += uint64(len(run.Out))
		} else {
			c.counters.SendsDropped += uint64(run.Sent)
		}
	}
	frames, used = run.Frames, run.Bytes+run.Next
	p.greeted = p.greeted || run.Frames > 0
	if used > 0 {
		p.heard = now
	}
	if run.Next == 0 {
		return frames, used, false
	}
	if c.framed(now, who, in[run.Bytes:used], before, run.Result, run.Err) {
		p.greeted = true
	}
	return frames + 1, used, true
}

// misaligned closes the link to a peer in whose stream no frame begins where one should; rest holds
// the bytes from there.
func (c *Core[R]) misaligned(now time.Duration, who fsm.Peer, rest []byte, why error) {
	rest = rest[:min(len(rest), max(mostOn(c.info, c.on), 1))]
	c.counters.BytesIn += uint64(len(rest))
	c.malformed(now, who, rest, why, true)
	c.settle(now)
}

// brokenOff is why a stream has ended, which is no good end within a frame of which some bytes have
// come.
func brokenOff(why error, begun int) error {
	if why == io.EOF && begun > 0 {
		return fmt.Errorf("closed in the middle of a frame (%d bytes of it): %w", begun, io.ErrUnexpectedEOF)
	}
	return why
}
