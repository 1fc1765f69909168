package traffic

import (
	"fmt"
	"io"
	"slices"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/gen/diag"
)

// Packets that are left out are always told. Those that may have carried bytes of what was explained keep a
// capture from being accepted: the run that was found may not be the one that took place.

// lacking are the packets that may have carried bytes of the explained connections and were left out.
func (r *Report) lacking() (list []capture.Skip) {
	if r.Network != nil {
		for i := range r.Capture.Conns {
			c := &r.Capture.Conns[i]
			ours := func(h *Host) bool { return h.Address == c.Client || h.Address == c.Server }
			if c.Proto == "udp" && slices.ContainsFunc(r.Network.ours(), ours) {
				list = append(list, c.LeftOut...)
			}
		}
	}
	for _, c := range r.Conns {
		list = append(list, c.lacking()...)
	}
	return list
}

// lacking are the packets that may have carried bytes of the connection, in any channel, and were left out.
func (c *Conn) lacking() []capture.Skip {
	list := c.LeftOut
	for _, b := range c.Beside {
		list = append(list[:len(list):len(list)], b.LeftOut...)
	}
	return list
}

// leftOutText says which packets of the file were not used.
func (r *Report) leftOutText(w io.Writer) {
	for _, k := range r.Capture.Skipped {
		fmt.Fprintf(w, "  left out: %s\n", skipText(k))
	}
}

// skipped says which packets could not be used and why, behind another sentence.
func skipped(c *capture.Capture) string {
	s := ""
	for _, k := range c.Skipped {
		s += "; left out: " + skipText(k)
	}
	return s
}

func skipText(k capture.Skip) string {
	return fmt.Sprintf("%s (%s, first is packet %d)", diag.Counted(k.Packets, "packet"), k.Reason, k.First)
}

// lackingText is the verdict on a capture whose run is known but for packets that were left out.
func (r *Report) lackingText() string {
	k := r.lacking()[0]
	for _, x := range r.lacking() {
		if x.First < k.First {
			k = x
		}
	}
	return fmt.Sprintf("verdict: INCOMPLETE, what could be read is a run of %s, but packets that may belong to it "+
		"were left out; the first is packet %d (%s)\n", r.protocol.Name, k.First, k.Reason)
}

func skipsJSON(list []capture.Skip) (out []jsonSkip) {
	for _, k := range list {
		out = append(out, jsonSkip{k.Reason, k.Packets, k.First})
	}
	return out
}
