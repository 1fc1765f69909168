package traffic

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/run"
)

// WriteText renders the report for people. With steps every step of the runs
// that explain the traffic is listed. Recordings come from anywhere: what would command a terminal
// is written visibly.
func (r *Report) WriteText(w io.Writer, steps bool) {
	var b strings.Builder
	r.writeText(&b, steps)
	io.WriteString(w, diag.Visible(b.String()))
}

func (r *Report) writeText(w io.Writer, steps bool) {
	fmt.Fprintf(w, "%s against %s (%.12s…)\n", r.File, r.Spec, r.Hash)
	if r.Trace != nil {
		r.traceText(w)
		if steps {
			fmt.Fprintf(w, "  --steps is for captures, whose steps have to be found; those of a trace are "+
				"its lines: fsmviz --seq %s shows them\n", r.File)
		}
		return
	}
	if r.Damage != "" {
		fmt.Fprintf(w, "  the capture is damaged: %s; what came before is looked at\n", r.Damage)
	}
	r.leftOutText(w)
	if r.Network != nil {
		r.networkText(w, steps)
		return
	}
	for _, c := range r.Conns {
		r.connText(w, c, steps)
	}
	for _, h := range r.Hubs {
		h.text(w, steps)
	}
	if r.ways > 1 {
		fmt.Fprintf(w, "  whose the conversations beside are was tried: %d of %d ways to put them together are runs\n",
			r.fitting, r.ways)
	}
	switch {
	case r.Accepted():
		fmt.Fprintf(w, "verdict: ACCEPTED, the capture is a run of %s\n", r.protocol.Name)
	case r.explained() && r.Damage == "":
		io.WriteString(w, r.lackingText())
	case r.explained():
		fmt.Fprintf(w, "verdict: INCOMPLETE, the capture is damaged; what came before is a run of %s\n",
			r.protocol.Name)
	case r.Exhausted() && r.missingText() != "":
		io.WriteString(w, r.missingText())
	case r.Exhausted():
		fmt.Fprintf(w, "verdict: INCOMPLETE, no run of %s was found within the bounds of the search\n", r.protocol.Name)
	default:
		if c, s := r.refused(); s != nil {
			fmt.Fprintf(w, "verdict: REFUSED, the %s\n", c.refusalText(s))
			return
		}
		fmt.Fprintf(w, "verdict: REJECTED, the capture is not a run of %s\n", r.protocol.Name)
	}
}

func (r *Report) connText(w io.Writer, c *Conn, steps bool) {
	rec := c.Recording
	fmt.Fprintf(w, "  %s %s → %s, packets %d to %d, %s, %s\n", c.Proto, c.Client, c.Server, c.First, c.Last,
		diag.Counted(len(rec.Frames), "frame"), diag.Counted(c.FromClient.Bytes+c.FromServer.Bytes, "byte"))
	for i, b := range c.Beside {
		fmt.Fprintf(w, "  %s beside it: %s %s → %s, packets %d to %d, %s\n", c.name(c.of[i+1]), b.Proto, b.Client,
			b.Server, b.First, b.Last, diag.Counted(b.FromClient.Bytes+b.FromServer.Bytes, "byte"))
	}
	if n := c.FromClient.Repeated + c.FromServer.Repeated; n > 0 {
		fmt.Fprintf(w, "  sent twice and counted once: %s\n", diag.Counted(n, "packet"))
	}
	differs := 0
	for i := range rec.Frames {
		if rec.Frames[i].Differs {
			if differs++; differs <= 5 {
				f := &rec.Frames[i]
				fmt.Fprintf(w, "  packet %d: %s is encoded as % x, the capture has % x\n", f.Packet,
					rec.Text(i), f.Again, f.Bytes)
			}
		}
	}
	if f := rec.Fault; f != nil {
		fmt.Fprintf(w, "  packet %d, byte %d of the %s's stream%s: %s\n", f.Packet, f.Offset,
			replay.SideNames[f.From], c.over(f.Channel), f.Reason)
		if len(f.Bytes) > 0 {
			fmt.Fprintf(w, "    bytes there: % x\n", f.Bytes)
		}
	} else if differs == 0 {
		fmt.Fprintf(w, "  every frame decodes, and encodes to the same bytes\n")
	} else {
		fmt.Fprintf(w, "  every frame decodes; %d encode to other bytes\n", differs)
	}
	for side, n := range rec.Raw {
		if n > 0 {
			fmt.Fprintf(w, "  behind its messages the %s sends %s of somebody else\n", replay.SideNames[side],
				diag.Counted(n, "byte"))
		}
	}
	for side, n := range rec.Rest {
		if n > 0 {
			fmt.Fprintf(w, "  the %s's stream ends with %s of an unfinished frame\n", replay.SideNames[side],
				diag.Counted(n, "byte"))
		}
	}
	for _, s := range c.Sides {
		if s.External {
			fmt.Fprintf(w, "  %s as %s: external, so it need not be a run\n", replay.SideNames[s.Side], s.Role)
			continue
		}
		sideText(w, c, s, steps)
	}
	c.halfText(w)
}

func sideText(w io.Writer, c *Conn, s *replay.Side, steps bool) {
	who := c.Recording.Names[s.Side] + " as " + s.Role
	if s.Params != "" {
		who += " (" + s.Params + ")"
	}
	taken := 0
	for _, n := range s.Taken {
		if n > 0 {
			taken++
		}
	}
	switch {
	case s.Accepted && s.Refusal != nil:
		fmt.Fprintf(w, "  %s: a run, %d sent and %d received frames in %s, %d of %s, and then it refused one\n",
			who, s.Sent, s.Read, diag.Counted(len(s.Run.Of(s.Side)), "step"), taken,
			diag.Counted(len(s.Taken), "transition"))
		refusedText(w, c, s)
	case s.Refusal != nil:
		fmt.Fprintf(w, "  %s: a run up to a frame that it refused\n", who)
		refusedText(w, c, s)
	case s.Accepted:
		fmt.Fprintf(w, "  %s: a run, %d sent and %d received frames in %s, %d of %s, ends in %s\n",
			who, s.Sent, s.Read, diag.Counted(len(s.Run.Of(s.Side)), "step"), taken,
			diag.Counted(len(s.Taken), "transition"), s.Machines[0].State)
	default:
		fmt.Fprintf(w, "  %s: NOT a run; explained are %d of %d sent and %d of %d received frames\n", who,
			s.Sent, s.SentAll, s.Read, s.ReadAll)
		deviationText(w, c, s, steps)
	}
	if s.Accepted {
		lossText(w, c.Recording, s)
	}
	if steps {
		for i, st := range s.Run.Of(s.Side) {
			fmt.Fprintf(w, "    %4d. %s\n", i+1, stepText(c.Recording, &st))
		}
	}
}

// refused returns the side that ended a connection over a frame that it refused, if all else is a run.
func (r *Report) refused() (*Conn, *replay.Side) {
	var conn *Conn
	var side *replay.Side
	for _, h := range r.Hubs {
		if !h.Side.Accepted {
			return nil, nil
		}
	}
	for _, c := range r.Conns {
		if c.Recording.Fault != nil {
			return nil, nil
		}
		for _, s := range c.Sides {
			switch {
			case s.Refusal != nil && !s.Accepted && side == nil:
				conn, side = c, s
			case s.Refusal == nil && !s.Accepted:
				return nil, nil
			}
		}
	}
	return conn, side
}

// refusalText says who refused what, and where.
func (c *Conn) refusalText(s *replay.Side) string {
	rec, x := c.Recording, s.Refusal
	f := &rec.Frames[x.Frame]
	state, _, _ := strings.Cut(x.At.State, " ")
	return fmt.Sprintf("%s refused frame %d (packet %d), %s of the %s%s, in %s", replay.SideNames[s.Side], x.Frame+1,
		f.Packet, rec.Text(x.Frame), replay.SideNames[f.From], c.over(f.Channel), state)
}

func refusedText(w io.Writer, c *Conn, s *replay.Side) {
	x := s.Refusal
	how := "closed the connection"
	if x.By == replay.Reset {
		how = "broke the connection off"
	}
	fmt.Fprintf(w, "    the %s, and %s %s later\n      it was in %s\n      %s\n", c.refusalText(s), how,
		x.After.Round(10*time.Microsecond), x.At.State, x.At.Refuses)
	if x.Or != "" {
		fmt.Fprintf(w, "      or its program left by %s at that moment: the capture does not tell the two apart\n",
			x.Or)
	}
}

func deviationText(w io.Writer, c *Conn, s *replay.Side, machines bool) {
	rec := c.Recording
	if s.Frontier < len(rec.Frames) {
		f := &rec.Frames[s.Frontier]
		fmt.Fprintf(w, "    first frame without explanation: packet %d, %s, from the %s%s: %s\n", f.Packet,
			offset(rec, f.Time), rec.Names[f.From], c.over(f.Channel), rec.Text(s.Frontier))
	}
	machinesText(w, "the "+rec.Names[s.Side], s, machines)
}

func offset(rec *replay.Recording, t time.Time) string {
	return fmt.Sprintf("+%.6f s", t.Sub(rec.Frames[0].Time).Seconds())
}

func stepText(rec *replay.Recording, st *run.Step) string {
	b := &strings.Builder{}
	if st.Message != 0 {
		fmt.Fprintf(b, "reads packet %d ", rec.Frames[st.Message-1].Packet)
	}
	b.WriteString(st.Event)
	if st.State != st.After {
		fmt.Fprintf(b, "  %s", st.State)
	}
	for _, m := range st.Sent {
		fmt.Fprintf(b, "  sends %s (packet %d)", m.Text, rec.Frames[m.ID-1].Packet)
	}
	if st.Where != "" {
		fmt.Fprintf(b, "  (%s)", st.Where)
	}
	return b.String()
}

func (r *Report) traceText(w io.Writer) {
	t := r.Trace
	taken := 0
	for _, n := range t.Taken {
		if n > 0 {
			taken++
		}
	}
	whose := strings.TrimSpace(strings.Join([]string{t.Header.Protocol, t.Header.Role, t.Header.Instance}, " "))
	fmt.Fprintf(w, "  trace of %s, %s, %s, %d of %s\n", whose, diag.Counted(t.Steps, "step"),
		diag.Counted(t.Frames, "frame"), taken, diag.Counted(len(t.Taken), "transition"))
	if t.Refused+t.Malformed > 0 {
		fmt.Fprintf(w, "  the peer deviated: %s refused, %s malformed\n", diag.Counted(t.Refused, "event"),
			diag.Counted(t.Malformed, "frame"))
	}
	if t.Unavailable > 0 {
		fmt.Fprintf(w, "  not available and refused: %s of the program\n", diag.Counted(t.Unavailable, "command"))
	}
	if t.Steps == 0 {
		fmt.Fprintln(w, "  there are no steps: nothing was shown")
	}
	if t.Cut {
		fmt.Fprintln(w, "  the last line is cut off and was left out")
	}
	if t.Unclosed {
		fmt.Fprintln(w, "  the record has no closing line: steps behind it may be missing (wait for Done "+
			"before the program ends)")
	}
	if d := t.Deviation; d != nil {
		fmt.Fprintf(w, "  line %d, %s: %s\n    the machine was in %s\n      %s\n",
			d.Line, d.Event, d.Reason, t.State, t.Machine)
		legalText(w, t.Legal)
	}
	switch {
	case r.TraceDamage != "":
		fmt.Fprintf(w, "  %s\nverdict: INCOMPLETE, the trace is damaged; the lines before are a run\n", r.TraceDamage)
	case t.Deviation != nil:
		fmt.Fprintf(w, "verdict: REJECTED, the trace is not a run of %s\n", r.protocol.Name)
	default:
		fmt.Fprintf(w, "verdict: ACCEPTED, the trace is a run of %s, ends in %s\n", r.protocol.Name, t.State)
	}
}
