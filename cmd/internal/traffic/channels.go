package traffic

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
)

// Port is where a channel is: at a port of the party that is connected to.
type Port struct {
	Proto string // tcp or udp
	Port  uint16
}

func (p Port) String() string { return fmt.Sprintf("%s:%d", p.Proto, p.Port) }

// ParsePort reads a Port as people write it: tcp:7000.
func ParsePort(text string) (Port, error) {
	proto, number, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(number, 10, 16)
	if proto != "tcp" && proto != "udp" || err != nil || n == 0 {
		return Port{}, fmt.Errorf("%q is no port of a channel, such as tcp:7000 or udp:7001", text)
	}
	return Port{proto, uint16(n)}, nil
}

// places are the ports of the channels of a protocol, in their order; nil if it has one channel.
type places []Port

// named reports an error if the options speak of a channel that the protocol does not have.
func (o Options) named(p *model.Protocol) error {
	if !p.Several() && len(o.Channels) > 0 {
		return fmt.Errorf("--channel is for protocols with several channels; %s has one", p.Name)
	}
	var names []string
	for _, ch := range p.Channels() {
		names = append(names, ch.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Channels)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s has no channel %q; it has %s", p.Name, name, diag.And(names))
		}
	}
	return nil
}

// channels sorts out where the channels of a protocol are.
func (o Options) channels(p *model.Protocol) (at places, err error) {
	if !p.Several() {
		return nil, nil
	}
	if len(o.Ports) > 0 {
		return nil, fmt.Errorf("%s has several channels: --channel says which port is whose, instead of --port", p.Name)
	}
	var names, lack []string
	for _, ch := range p.Channels() {
		names = append(names, ch.Name)
		port, ok := o.Channels[ch.Name]
		if !ok {
			example := "tcp:PORT"
			if ch.Lossy || !ch.Ordered {
				example = "udp:PORT"
			}
			lack = append(lack, "--channel "+ch.Name+"="+example)
		}
		if k := slices.Index(at, port); ok && k >= 0 {
			return nil, fmt.Errorf("the channels %s and %s are both at %s", names[k], ch.Name, port)
		}
		at = append(at, port)
	}
	if len(lack) > 0 {
		return nil, fmt.Errorf("%s has several channels, and nothing says where in the capture they are; add %s",
			p.Name, strings.Join(lack, " "))
	}
	return at, nil
}

// among returns the ports to look at.
func (at places) among(ports []uint16) []uint16 {
	for _, p := range at {
		ports = append(ports, p.Port)
	}
	return ports
}

// talk is what two parties have said to each other, over all channels.
type talk struct {
	conns     []*capture.Conn // that with which links come and go first
	of        []int           // their channels
	turned    []bool          // the capture's client is the server: a datagram of the server came first
	datagrams []bool          // by channel
	chunks    []replay.Chunk
}

// talks puts conversations together: each connection of the channel with which links come and go is one, with what the
// same two hosts say to each other in the other channels.
//
// Of several games of the same hosts at the same time nothing says whose the conversations of the other channels
// are: those are open, and are tried.
func (at places) talks(p *model.Protocol, c *capture.Capture) ([]*talk, []openConn, error) {
	carries := make([]bool, len(c.Conns))
	for _, e := range c.Events {
		carries[e.Conn] = carries[e.Conn] || e.Kind != capture.Open
	}
	var list []*talk
	var open []openConn
	of := make([]*talk, len(c.Conns)) // by conversation
	for i := range c.Conns {
		conn := &c.Conns[i]
		channel, turned := at.channel(conn)
		if !carries[i] || len(at) > 0 && channel != p.News() {
			continue
		}
		of[i] = &talk{conns: []*capture.Conn{conn}, of: []int{max(channel, 0)}, turned: []bool{turned},
			datagrams: []bool{conn.Proto == "udp"}}
		for k := range at {
			of[i].datagrams = append(of[i].datagrams[:k], at[k].Proto == "udp")
		}
		list = append(list, of[i])
	}
	for i := range c.Conns {
		channel, turned := at.channel(&c.Conns[i])
		if of[i] != nil || !carries[i] || channel < 0 {
			continue
		}
		among, err := beside(p, list, &c.Conns[i], channel, turned)
		if err != nil {
			return nil, nil, err
		}
		if len(among) > 1 {
			open = append(open, openConn{&c.Conns[i], channel, turned, among})
			continue
		}
		among[0].add(&c.Conns[i], channel, turned)
	}
	if n := ways(open); n > mostWays {
		x := open[0]
		client, server := ends(x.conn, x.turned)
		return nil, nil, fmt.Errorf("nothing says to which of %d connections of the channel %s the channel %s, "+
			"%s → %s, packets %d to %d, belongs, and there are more than %d ways to try; cut the capture so that it "+
			"has fewer",
			len(x.among), p.Channels()[p.News()].Name, p.Channels()[x.channel].Name, client, server, x.conn.First,
			x.conn.Last, mostWays)
	}
	return list, open, nil
}

func (g *talk) add(c *capture.Conn, channel int, turned bool) {
	g.conns, g.of, g.turned = append(g.conns, c), append(g.of, channel), append(g.turned, turned)
}

// listen collects what was said in talks, in order.
func listen(list []*talk, c *capture.Capture) {
	of, place := make([]*talk, len(c.Conns)), map[*capture.Conn]int{}
	for i := range c.Conns {
		place[&c.Conns[i]] = i
	}
	for _, g := range list {
		g.chunks = nil
		for _, x := range g.conns {
			of[place[x]] = g
		}
	}
	for _, e := range c.Events {
		if g := of[e.Conn]; g != nil && e.Kind != capture.Open {
			k := slices.Index(g.conns, &c.Conns[e.Conn])
			chunk := replay.Chunk{Time: e.Time, Packet: e.Packet, Data: e.Data, Channel: g.of[k], Kind: kinds[e.Kind]}
			if e.FromClient == g.turned[k] {
				chunk.From = 1
			}
			g.chunks = append(g.chunks, chunk)
		}
	}
}

// openConn is a conversation of which nothing says to which of several talks it belongs.
type openConn struct {
	conn    *capture.Conn
	channel int
	turned  bool
	among   []*talk
}

// mostWays is in how many ways open conversations are put together with talks at most.
const mostWays = 64

// ways counts the ways; more than mostWays are not counted.
func ways(open []openConn) int {
	n := 0
	assign(open, func([]*talk) bool { n++; return n <= mostWays })
	return n
}

// assign calls use for each way to give each open conversation a talk, none of which gets two of one channel, until it
// returns false.
func assign(open []openConn, use func(to []*talk) bool) {
	to := make([]*talk, len(open))
	var next func(i int) bool
	next = func(i int) bool {
		if i == len(open) {
			return use(to)
		}
		for _, g := range open[i].among {
			taken := slices.Contains(g.of, open[i].channel)
			for k := range i {
				taken = taken || to[k] == g && open[k].channel == open[i].channel
			}
			if to[i] = g; !taken && !next(i+1) {
				return false
			}
		}
		return true
	}
	next(0)
}

var kinds = map[capture.Kind]replay.ChunkKind{capture.Data: replay.Data, capture.Close: replay.Close,
	capture.Reset: replay.Reset, capture.Gap: replay.Gap}

// channel returns the channel that a conversation is of; -1 if it is of none. turned: the port is that of the capture's
// client.
func (at places) channel(c *capture.Conn) (channel int, turned bool) {
	if k := slices.Index(at, Port{c.Proto, c.Server.Port()}); k >= 0 {
		return k, false
	}
	k := slices.Index(at, Port{c.Proto, c.Client.Port()})
	return k, k >= 0
}

// beside finds the talks that a conversation of another channel may belong to: those of the same two hosts, and of
// several the ones that went on meanwhile.
func beside(p *model.Protocol, list []*talk, c *capture.Conn, channel int, turned bool) ([]*talk, error) {
	client, server := ends(c, turned)
	same := func(g *talk) bool {
		a, b := ends(g.conns[0], g.turned[0])
		return a.Addr().Unmap() == client.Addr().Unmap() && b.Addr().Unmap() == server.Addr().Unmap()
	}
	meanwhile := func(g *talk) bool { return g.conns[0].First <= c.Last && c.First <= g.conns[0].Last }
	var found []*talk
	for _, g := range list {
		if same(g) {
			found = append(found, g)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(g *talk) bool { return !meanwhile(g) || slices.Contains(g.of, channel) })
	}
	name, news := p.Channels()[channel].Name, p.Channels()[p.News()].Name
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("the channel %s, %s → %s, packets %d to %d, belongs to no connection of the "+
			"channel %s in the capture", name, client, server, c.First, c.Last, news)
	case len(found) > 1:
	case slices.Contains(found[0].of, channel):
		return nil, fmt.Errorf("the channel %s goes over two conversations of the same hosts; the second is %s → %s, "+
			"packets %d to %d", name, client, server, c.First, c.Last)
	}
	return found, nil
}

// ends returns who was connected from, and to.
func ends(c *capture.Conn, turned bool) (client, server netip.AddrPort) {
	if turned {
		return c.Server, c.Client
	}
	return c.Client, c.Server
}
