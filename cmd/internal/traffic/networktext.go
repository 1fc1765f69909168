package traffic

import (
	"fmt"
	"io"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/replay"
)

// mostJunk is how many senders of junk are listed.
const mostJunk = 5

func (r *Report) networkText(w io.Writer, steps bool) {
	n := r.Network
	fmt.Fprintf(w, "  one network, packets %d to %d: %s of %s", n.First, n.Last,
		diag.Counted(len(n.Frames), "frame"), diag.Counted(len(n.Hosts), "host"))
	if silent := len(n.Keys) - len(n.Hosts); silent > 0 {
		fmt.Fprintf(w, ", and %s that only others send to or name", diag.Counted(silent, "address"))
	}
	fmt.Fprintln(w)
	for i, name := range n.Names {
		fmt.Fprintf(w, "    %d is %s\n", i, name)
	}
	n.differsText(w)
	n.unreadableText(w)
	n.junkText(w)
	for _, h := range n.Hosts {
		hostText(w, n, h, steps)
	}
	switch name := r.protocol.Name; {
	case n.accepted() && r.Damage != "":
		fmt.Fprintf(w, "verdict: INCOMPLETE, the capture is damaged; what came before is a run of %s\n", name)
	case n.accepted() && len(r.lacking()) > 0:
		io.WriteString(w, r.lackingText())
	case n.accepted():
		fmt.Fprintf(w, "verdict: ACCEPTED, the capture is a run of %s%s\n", name, n.environment())
	case len(n.ours()) == 0 && len(n.Hosts) == 0:
		fmt.Fprintf(w, "verdict: REJECTED, there is no frame of %s in the capture\n", name)
	case len(n.ours()) == 0:
		fmt.Fprintf(w, "verdict: REJECTED, no host in the capture begins as %s does; to see where one deviates, "+
			"name it: --host %v\n", name, n.Hosts[0].Address)
	case n.unknown():
		fmt.Fprintf(w, "verdict: INCOMPLETE, not all of the capture could be held against %s\n", name)
	default:
		fmt.Fprintf(w, "verdict: REJECTED, the capture is not a run of %s\n", name)
	}
}

// environment counts the hosts that nobody has explained.
func (n *Network) environment() string {
	if others := len(n.Hosts) - len(n.ours()); others > 0 {
		return fmt.Sprintf(" at %s; %s environment", diag.Counted(len(n.ours()), "host"),
			diag.Counted(others, "other")+map[bool]string{true: " is", false: " are"}[others == 1])
	}
	return ""
}

// differsText says which frames are not written as the specification would.
func (n *Network) differsText(w io.Writer) {
	count, first := 0, -1
	for i := range n.Frames {
		if f := &n.Frames[i]; f.Differs {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count == 0 {
		return
	}
	f := &n.Frames[first]
	fmt.Fprintf(w, "  %s hold what %s does not write and does not look at (first: packet %d, byte %d)\n",
		diag.Counted(count, "frame"), n.Protocol.Name, f.Packet, differs(f))
}

// differs is the first byte of a frame that the specification would write otherwise.
func differs(f *replay.Frame) (at int) {
	for at < min(len(f.Bytes), len(f.Again)) && f.Bytes[at] == f.Again[at] {
		at++
	}
	return at
}

// unreadableText says which frames of hosts cannot be read, so that no machine hears them.
func (n *Network) unreadableText(w io.Writer) {
	count, first := 0, -1
	for i := range n.Frames {
		if n.Frames[i].Problem != "" {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count > 0 {
		fmt.Fprintf(w, "  %s of hosts cannot be read as %s, and no machine hears them (first: packet %d from %s: %s)\n",
			diag.Counted(count, "frame"), n.Protocol.Name, n.Frames[first].Packet, n.Names[n.Frames[first].From],
			n.Frames[first].Problem)
	}
}

func (n *Network) junkText(w io.Writer) {
	for i, j := range n.Junk {
		if i == mostJunk {
			fmt.Fprintf(w, "  and %s like that\n", diag.Counted(len(n.Junk)-i, "more sender"))
			return
		}
		fmt.Fprintf(w, "  %v sends no frame of %s in %s; first packet %d: %s\n", address(j.From), n.Protocol.Name,
			diag.Counted(j.Datagrams, "datagram"), j.Packet, j.Reason)
	}
}

func hostText(w io.Writer, n *Network, h *Host, steps bool) {
	switch {
	case h.Unasked:
		fmt.Fprintf(w, "  %v: not asked for, environment\n", h.Address)
		return
	case h.Foreign:
		alien := n.Alien(h.Host)
		fmt.Fprintf(w, "  %v: another program, environment; its first frame is not what %s sends (%s), and "+
			"packet %d has at byte %d what %[2]s does not write\n", h.Address, h.Parts[0].Role,
			frameText(n, h.Host.Parts[0].Sent()[0]), n.Frames[alien].Packet, differs(&n.Frames[alien]))
		return
	}
	if h.Repeated > 0 {
		fmt.Fprintf(w, "  %v: the network brought %s twice\n", h.Address, diag.Counted(h.Repeated, "frame"))
	}
	for i, s := range h.Parts {
		t := h.Host.Parts[i]
		who := h.Address.String()
		if len(h.Parts) > 1 {
			who += fmt.Sprintf(", program %d", i+1)
		}
		if t.Missing > 0 {
			fmt.Fprintf(w, "  %s: %s of it are not in the capture, by their numbers\n", who,
				diag.Counted(t.Missing, "frame"))
		}
		if s == nil {
			fmt.Fprintf(w, "  %s: cannot be judged; the capture begins behind its beginning, "+
				"with its frame number %d\n", who, t.First)
			continue
		}
		partText(w, n, s, t, who, steps)
	}
}

func partText(w io.Writer, n *Network, s *replay.Side, t *replay.Part, who string, steps bool) {
	who += " as " + s.Role
	if s.Accepted {
		taken := 0
		for _, k := range s.Taken {
			if k > 0 {
				taken++
			}
		}
		fmt.Fprintf(w, "  %s: a run, %d sent and %d received frames in %s, %d of %s, ends in %s\n", who, s.Sent, s.Read,
			diag.Counted(len(s.Run.Of(s.Side)), "step"), taken, diag.Counted(len(s.Taken), "transition"),
			s.Machines[0].State)
	} else {
		fmt.Fprintf(w, "  %s: NOT a run; explained are %d of %d sent frames\n", who, s.Sent, s.SentAll)
		if s.Frontier < len(n.Frames) {
			fmt.Fprintf(w, "    first frame without explanation: %s\n", frameText(n, s.Frontier))
		}
		if t.First > 1 {
			fmt.Fprintf(w, "    this may be because its frames before number %d are not in the capture\n", t.First)
		}
		machinesText(w, "it", s, steps)
	}
	if steps {
		for i, st := range s.Run.Of(s.Side) {
			fmt.Fprintf(w, "    %4d. %s\n", i+1, stepText(&n.Recording, &st))
		}
	}
}

// frameText says where a frame is, to whom it goes and what it says.
func frameText(n *Network, k int) string {
	f := &n.Frames[k]
	to := "everyone"
	if f.To != replay.Everyone {
		to = n.Names[f.To]
	}
	text := n.Text(k)
	if f.Problem != "" {
		text += ": " + f.Problem
	}
	return fmt.Sprintf("packet %d, %s, to %s: %s", f.Packet, offset(&n.Recording, f.Time), to, text)
}

// legalText says what could have come next.
func legalText(w io.Writer, l replay.Legal) {
	for _, x := range []struct {
		what  string
		names []string
	}{{"receive", l.Messages}, {"be told by its program", l.Commands}, {"see", l.Others}} {
		if len(x.names) > 0 {
			fmt.Fprintf(w, "      could %s there: %s\n", x.what, strings.Join(x.names, ", "))
		}
	}
}

// machinesText says where a party was when the explanation ended, and what was legal there.
func machinesText(w io.Writer, who string, s *replay.Side, machines bool) {
	known := map[string]bool{}
	for _, a := range s.Machines {
		if known[a.State+a.Refuses] && !machines {
			continue
		}
		known[a.State+a.Refuses] = true
		fmt.Fprintf(w, "    %s was in %s\n", who, a.State)
		if machines {
			fmt.Fprintf(w, "      %s\n", a.Machine)
		}
		if a.Refuses != "" {
			fmt.Fprintf(w, "      %s\n", a.Refuses)
		}
		legalText(w, a.Legal)
		if len(a.Sends) > 0 {
			fmt.Fprintf(w, "      could send there: %s\n", strings.Join(a.Sends, ", "))
		}
	}
	if s.Exhausted {
		fmt.Fprintf(w, "    the search stopped at its bound after %d possibilities; a run may exist\n", s.Looked)
	}
}
