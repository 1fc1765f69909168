package traffic

import (
	"encoding/json"
	"io"

	"github.com/parley-go/parley/gen/replay"
)

// The JSON form. Field names are stable.
type (
	jsonReport struct {
		File        string     `json:"file"`
		Spec        string     `json:"spec"`
		Hash        string     `json:"hash"`
		Verdict     string     `json:"verdict"` // accepted, refused, rejected, incomplete
		Damage      string     `json:"damage,omitempty"`
		Connections []jsonConn `json:"connections,omitempty"`
		Servers     []jsonHub  `json:"servers,omitempty"`  // explained by all their connections together
		Hosts       []jsonHost `json:"hosts,omitempty"`    // of a broadcast protocol, in the order of their numbers
		LeftOut     []jsonSkip `json:"left_out,omitempty"` // packets of the file that were not used, by reason
		Trace       *jsonTrace `json:"trace,omitempty"`
	}
	jsonSkip struct {
		Reason  string `json:"reason"`
		Packets int    `json:"packets"`
		First   int    `json:"first"` // number of the first one
	}
	jsonHost struct {
		Address  string     `json:"address"`
		Number   int        `json:"number"`              // in messages
		Foreign  bool       `json:"foreign,omitempty"`   // another program, environment
		Unasked  bool       `json:"not_asked,omitempty"` // by --host, environment
		Cut      bool       `json:"cut,omitempty"`       // the capture begins behind its beginning
		Repeated int        `json:"repeated,omitempty"`  // frames that the network brought twice
		Programs []jsonSide `json:"programs,omitempty"`  // one after the other
	}
	jsonConn struct {
		Proto   string     `json:"proto"`
		Client  string     `json:"client"`
		Server  string     `json:"server"`
		Frames  int        `json:"frames"`
		Differs []int      `json:"encode_differently,omitempty"` // indices of frames
		Fault   *jsonFault `json:"fault,omitempty"`
		Lacks   []jsonSkip `json:"may_lack,omitempty"`        // packets left out that may be of it: never accepted
		Half    string     `json:"packets_only_of,omitempty"` // client or server
		Sides   []jsonSide `json:"sides"`
	}
	jsonHub struct {
		Address string   `json:"address"`
		Clients []string `json:"clients"`
		Numbers []int    `json:"numbers"` // those that the clients have at the server
		Side    jsonSide `json:"side"`
	}
	jsonFault struct {
		Side    string `json:"side"`
		Channel string `json:"channel,omitempty"` // of several
		Packet  int    `json:"packet"`
		Offset  int    `json:"offset"`
		Reason  string `json:"reason"`
	}
	jsonSide struct {
		Side        string       `json:"side"`
		Role        string       `json:"role"`
		Params      string       `json:"params,omitempty"`
		External    bool         `json:"external,omitempty"` // not ours, and not explained
		Accepted    bool         `json:"accepted"`
		Exhausted   bool         `json:"exhausted,omitempty"`
		Sent        int          `json:"sent_explained"`
		SentAll     int          `json:"sent"`
		Read        int          `json:"received_explained"`
		ReadAll     int          `json:"received"`
		Steps       int          `json:"steps"`
		Missed      []int        `json:"lost_on_the_way,omitempty"` // indices of frames, of the peer
		Copied      []int        `json:"copied,omitempty"`          // of its own, made by the network
		Unsent      int          `json:"sent_not_captured,omitempty"`
		Unseen      int          `json:"received_not_captured,omitempty"`
		Unexplained *jsonFrame   `json:"first_unexplained,omitempty"`
		Machines    []jsonAt     `json:"machines"`
		Refusal     *jsonRefusal `json:"refused,omitempty"` // the frame over which the side ended the connection
	}
	jsonRefusal struct {
		Frame    jsonFrame `json:"frame"`
		Reason   string    `json:"reason"`
		After    float64   `json:"closed_after_s"`       // from the frame to the close
		Or       string    `json:"or_command,omitempty"` // with which the program may have left instead
		Expected bool      `json:"expected,omitempty"`   // some check of the specification expects it
	}
	jsonFrame struct {
		Index   int    `json:"index"`             // in the recording, from 0
		Channel string `json:"channel,omitempty"` // of several
		Packet  int    `json:"packet"`
		From    string `json:"from"`
		Message string `json:"message"`
	}
	jsonAt struct {
		State   string   `json:"state"`
		Machine string   `json:"machine"`
		Refuses string   `json:"refuses,omitempty"`
		Legal   []string `json:"legal"`
		Receive []string `json:"could_receive,omitempty"`
		Sends   []string `json:"could_send,omitempty"`
	}
	jsonTrace struct {
		Protocol  string   `json:"protocol"`
		Role      string   `json:"role"`
		Instance  string   `json:"instance,omitempty"`
		Steps     int      `json:"steps"`
		Frames    int      `json:"frames"`
		Refused   int      `json:"refused"`
		Malformed int      `json:"malformed"`
		Unavail   int      `json:"commands_refused"`
		State     string   `json:"state"`
		Machine   string   `json:"machine"`
		Legal     []string `json:"legal"`
		Cut       bool     `json:"cut,omitempty"`      // the last line was not whole
		Unclosed  bool     `json:"unclosed,omitempty"` // the closing line is missing: steps may be, too
		Line      int      `json:"deviation_line,omitempty"`
		Event     string   `json:"deviation_event,omitempty"`
		Reason    string   `json:"deviation_reason,omitempty"`
	}
)

// Verdict is accepted, refused, rejected or incomplete.
func (r *Report) Verdict() string {
	switch {
	case r.Accepted():
		return "accepted"
	case r.Exhausted():
		return "incomplete"
	}
	if _, s := r.refused(); s != nil {
		return "refused"
	}
	return "rejected"
}

// WriteJSON renders the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{File: r.File, Spec: r.Spec, Hash: r.Hash, Verdict: r.Verdict(), Damage: r.Damage + r.TraceDamage}
	if r.Capture != nil {
		out.LeftOut = skipsJSON(r.Capture.Skipped)
	}
	if n := r.Network; n != nil {
		for _, h := range n.Hosts {
			j := jsonHost{Address: h.Address.String(), Number: h.Number, Foreign: h.Foreign, Unasked: h.Unasked,
				Cut: h.Cut(), Repeated: h.Repeated}
			for _, s := range h.Parts {
				if s != nil && !h.Foreign {
					j.Programs = append(j.Programs, sideJSON(&n.Recording, s))
				}
			}
			out.Hosts = append(out.Hosts, j)
		}
	}
	for _, c := range r.Conns {
		out.Connections = append(out.Connections, connJSON(c))
	}
	for _, h := range r.Hubs {
		j := jsonHub{Address: h.Address.String(), Numbers: h.numbers, Side: sideJSON(h.Recording, h.Side)}
		for _, c := range h.Conns {
			j.Clients = append(j.Clients, c.Client.String())
		}
		out.Servers = append(out.Servers, j)
	}
	if t := r.Trace; t != nil {
		j := &jsonTrace{Protocol: t.Header.Protocol, Role: t.Header.Role, Instance: t.Header.Instance,
			Steps: t.Steps, Frames: t.Frames,
			Refused: t.Refused, Malformed: t.Malformed, Unavail: t.Unavailable, State: t.State,
			Machine: t.Machine, Legal: t.Legal.All(),
			Cut: t.Cut, Unclosed: t.Unclosed}
		if d := t.Deviation; d != nil {
			j.Line, j.Event, j.Reason = d.Line, d.Event, d.Reason
		}
		out.Trace = j
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func connJSON(c *Conn) jsonConn {
	j := jsonConn{Proto: c.Proto, Client: c.Client.String(), Server: c.Server.String(), Frames: len(c.Recording.Frames),
		Lacks: skipsJSON(c.lacking())}
	for i := range c.Recording.Frames {
		if c.Recording.Frames[i].Differs {
			j.Differs = append(j.Differs, i)
		}
	}
	if f := c.Recording.Fault; f != nil {
		j.Fault = &jsonFault{Side: replay.SideNames[f.From], Channel: c.name(f.Channel), Packet: f.Packet,
			Offset: f.Offset, Reason: f.Reason}
	}
	for _, s := range c.Sides {
		if s.External {
			j.Sides = append(j.Sides,
				jsonSide{Side: c.Recording.Names[s.Side], Role: s.Role, External: true, Accepted: true})
			continue
		}
		x := sideJSON(c.Recording, s)
		if s.Accepted {
			x.Missed, x.Copied, x.Unsent, x.Unseen = s.Missed, s.Copied, s.Unsent, s.Unseen
		}
		j.Sides = append(j.Sides, x)
	}
	if c.half >= 0 {
		j.Half = replay.SideNames[c.half]
	}
	return j
}

func sideJSON(rec *replay.Recording, s *replay.Side) jsonSide {
	j := jsonSide{Side: rec.Names[s.Side], Role: s.Role, Params: s.Params, Accepted: s.Accepted,
		Exhausted: s.Exhausted,
		Sent:      s.Sent, SentAll: s.SentAll, Read: s.Read, ReadAll: s.ReadAll, Steps: len(s.Run.Of(s.Side))}
	if !s.Accepted && s.Frontier < len(rec.Frames) {
		j.Unexplained = frameJSON(rec, s.Frontier)
	}
	if x := s.Refusal; x != nil {
		j.Refusal = &jsonRefusal{Frame: *frameJSON(rec, x.Frame), Reason: x.At.Refuses, After: x.After.Seconds(),
			Or: x.Or, Expected: x.Expected}
	}
	for _, a := range s.Machines {
		j.Machines = append(j.Machines, jsonAt{State: a.State, Machine: a.Machine, Refuses: a.Refuses,
			Legal: a.Legal.All(), Receive: a.Legal.Messages, Sends: a.Sends})
	}
	return j
}

func frameJSON(rec *replay.Recording, k int) *jsonFrame {
	f := &rec.Frames[k]
	j := &jsonFrame{Index: k, Packet: f.Packet, From: rec.Names[f.From], Message: rec.Text(k)}
	if rec.Protocol.Several() {
		j.Channel = rec.Protocol.Channels()[f.Channel].Name
	}
	return j
}
