// Package dissect writes a dissector for Wireshark and tshark from the wire format of a
// specification: a script in Lua, which is a table of messages (spec.go) and an engine that is the
// same for all protocols (engine.lua). A protocol without a wire section has the default format. It
// must not know captures or the checker; that the dissector decodes what the interpreter decodes is
// tested with tshark in cmd/internal/traffic. Start from [Wireshark].
package dissect

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

//go:embed engine.lua
var engine string

// Options say where the protocol runs.
type Options struct {
	// Transport is tcp or udp; empty: udp if the channel loses or reorders messages or frames have
	// no length, else tcp.
	Transport string
	// Port is the number of the port, 1 to 65535.
	Port int
	// Server is the role that the port belongs to. It is needed where messages are told apart by who
	// sends them; without it a frame is the first message that it can be.
	Server string
	// Channel is the name of the channel, of a protocol with several: each has a dissector of its own.
	Channel string
}

// Wireshark writes the dissector. It fails where the format has something that the engine cannot
// take apart, or frames have no length in a stream.
func Wireshark(p *model.Protocol, o Options) ([]byte, error) {
	p, err := overChannel(model.WithDefaultWire(p), o.Channel)
	if err != nil {
		return nil, err
	}
	if o.Transport == "" {
		o.Transport = "tcp"
		if !p.Channel.Ordered || p.Channel.Lossy || !p.Wire.Delimited() {
			o.Transport = "udp"
		}
	}
	switch {
	case o.Transport != "tcp" && o.Transport != "udp":
		return nil, fmt.Errorf("transport %q: there are tcp and udp", o.Transport)
	case o.Port < 1 || o.Port > 65535:
		return nil, fmt.Errorf("port %d: a port is 1 to 65535", o.Port)
	case o.Transport == "tcp" && !p.Wire.Delimited():
		return nil, fmt.Errorf("%s: its frames have no length, so that nobody can tell them apart in a "+
			"stream; they can be datagrams (udp)", p.Name)
	}
	if o.Server != "" && !slices.ContainsFunc(p.Roles, func(m *model.Machine) bool { return m.Name == o.Server }) {
		return nil, fmt.Errorf("%s has no role %s, to which the port could belong", p.Name, o.Server)
	}
	w := &writer{}
	fmt.Fprintf(w, "-- %s: %s\n", p.Name, strings.Join(strings.Fields(p.Doc), " "))
	fmt.Fprintf(w, "-- Written by fsmgen from %s. Run it as: tshark -X lua_script:FILE -r CAPTURE\n\n",
		strings.Join(p.Files, ", "))
	w.spec(p, o)
	if w.err != nil {
		return nil, w.err
	}
	return append([]byte(w.String()+"\n"), engine...), nil
}

// overChannel returns the protocol as a channel of several has it, with a name of its own.
func overChannel(p *model.Protocol, channel string) (*model.Protocol, error) {
	var names []string
	for k, ch := range p.Channels() {
		names = append(names, ch.Name)
		if p.Several() && ch.Name == channel {
			view := *p.Over(k)
			view.Name += "_" + strings.ToLower(channel)
			return &view, nil
		}
	}
	switch {
	case p.Several() && channel == "":
		return nil, fmt.Errorf("%s has several channels, %s, and a dissector is of one: say which (--channel), "+
			"once for each", p.Name, diag.And(names))
	case p.Several():
		return nil, fmt.Errorf("%s has no channel %q; it has %s", p.Name, channel, diag.And(names))
	case channel != "":
		return nil, fmt.Errorf("%s has one channel, without a name", p.Name)
	}
	return p, nil
}
