package probe

import (
	"io"
	"net/netip"

	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/trace"
)

// WriteCapture writes the session of a finding as a packet capture (pcapng): what was sent and received, each
// connection with its ends, with the act as the comment. It is nothing for a finding without a session.
func (f *Finding) WriteCapture(w io.Writer) error {
	type ends struct{ network, local, remote string }
	links := map[ends]*trace.PcapNG{}
	var file *trace.PcapNG
	for i := range f.packets {
		p := &f.packets[i]
		now := ends{p.network, p.ends[0], p.ends[1]}
		link := links[now]
		if link == nil {
			meta := trace.PcapMeta{Proto: now.network, Comment: string(f.Kind)}
			meta.Local, _ = netip.ParseAddrPort(now.local)
			meta.Remote, _ = netip.ParseAddrPort(now.remote)
			var err error
			if file == nil {
				file, err = trace.NewPcapNG(w, meta)
				link = file
			} else {
				link, err = file.Link(meta)
			}
			if err != nil {
				return err
			}
			links[now] = link
		}
		var err error
		switch {
		case p.opens:
			err = link.Open(p.at, "")
		case p.kind == replay.Close:
			err = link.Close(p.dir, p.at, p.comment)
		case p.kind == replay.Reset:
			err = link.Reset(p.dir, p.at, p.comment)
		default:
			err = link.Frame(p.dir, p.at, p.data, p.comment)
		}
		if err != nil && err != trace.ErrPcapClosed {
			return err
		}
	}
	return nil
}
