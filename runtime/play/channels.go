package play

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Place says where one of several channels of a protocol is.
type Place struct {
	Channel string // its name
	Network string // tcp or udp, or one of them with 4 or 6 behind it
	Address string // host:port
}

// DialChannels is Dial for a protocol with several channels. It connects to the place of each.
func DialChannels[R fsm.Runner](ctx context.Context, places []Place, r R, h Handlers[R],
	o Options) (*Session[R], error) {
	if err := errors.Join(each(r.Info(), places), unended(r)); err != nil {
		return nil, err
	}
	var links []transport.Link
	for _, p := range places {
		link, err := dial(ctx, p.Network, p.Address, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("channel %s: %w", p.Channel, err), abort(links))
		}
		links = append(links, link)
	}
	return start(ctx, places, links, r, h, o)
}

// each reports an error unless there is one place for each channel.
func each(info *fsm.Info, places []Place) error {
	if len(info.Channels) == 0 {
		return fmt.Errorf("play: %s has one channel: call Dial or Accept with a network and an address", info.Protocol)
	}
	seen := map[string]bool{}
	for _, p := range places {
		if !slices.ContainsFunc(info.Channels, func(c fsm.Channel) bool { return c.Name == p.Channel }) {
			return fmt.Errorf("play: %s has no channel %q", info.Protocol, p.Channel)
		}
		if seen[p.Channel] {
			return fmt.Errorf("play: there are two places for the channel %q", p.Channel)
		}
		seen[p.Channel] = true
	}
	for _, c := range info.Channels {
		if !seen[c.Name] {
			return fmt.Errorf("play: there is no place for the channel %q of %s", c.Name, info.Protocol)
		}
	}
	return nil
}

func abort(links []transport.Link) (err error) {
	for _, l := range links {
		err = errors.Join(err, l.Abort())
	}
	return err
}

// ListenChannels waits for peers of a protocol with several channels, at the place of each. Accept makes a session of
// one connection for each channel over TCP, all from one host, and of whoever is heard first from that host
// over UDP. So two programs on one host, or behind one router, that connect at the same time are not told apart:
// a server for many of them is a driver.Host, which asks the program whose a peer is. With a place over UDP there is
// one session.
func ListenChannels(places []Place, o Options) (*Listener, error) {
	l := &Listener{}
	connected := slices.ContainsFunc(places, func(p Place) bool { return streams[p.Network] })
	for _, p := range places {
		one, err := listen(p.Network, p.Address, o, func(from netip.Addr) bool {
			host := l.host.Load()
			return !connected || host != nil && from.WithZone("") == *host
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("channel %s: %w", p.Channel, err), l.Close())
		}
		l.places, l.doors = append(l.places, p), append(l.doors, one)
	}
	return l, nil
}

// AddrOf returns the address at which the channel is waited for, nil if there is no such place.
func (l *Listener) AddrOf(channel string) net.Addr {
	for i, p := range l.places {
		if p.Channel == channel {
			return l.doors[i].Addr()
		}
	}
	return nil
}

// acceptAll waits for a link for each place. Who makes one connection and not the others within the time
// for a handshake is let go.
func (l *Listener) acceptAll(ctx context.Context, o Options) ([]transport.Link, error) {
	var sockets []*udp.Link
	for _, d := range l.doors {
		var socket *udp.Link
		if d.streams == nil {
			if socket = d.take(); socket == nil {
				for _, s := range sockets {
					if s != nil {
						s.Close()
					}
				}
				return nil, ErrTaken
			}
		}
		sockets = append(sockets, socket)
	}
	for {
		links, host, err := l.connections(ctx, o)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			continue // others may come
		}
		for i, s := range sockets {
			switch {
			case s == nil:
			case err != nil:
				err = errors.Join(err, s.Close())
			default:
				links[i] = s
			}
		}
		l.host.Store(&host)
		return links, err
	}
}

// connections accepts one connection for each place over TCP; all are from one host.
func (l *Listener) connections(ctx context.Context, o Options) (links []transport.Link, host netip.Addr, err error) {
	links = make([]transport.Link, len(l.doors))
	var have []transport.Link
	for i, d := range l.doors {
		for d.streams != nil && links[i] == nil {
			link, err := d.streams.Accept(ctx)
			if err != nil {
				return nil, host, errors.Join(err, abort(have))
			}
			from := hostOf(link.RemoteAddr(0))
			if host.IsValid() && from != host {
				link.Abort()
				continue
			}
			if !host.IsValid() {
				host = from
				if limit := o.handshake(); limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, limit)
					defer cancel()
				}
			}
			links[i] = link
			have = append(have, link)
		}
	}
	return links, host, nil
}

func hostOf(a net.Addr) netip.Addr {
	if a == nil {
		return netip.Addr{}
	}
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}
