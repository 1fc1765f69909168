// Command probe is a program to try `fsmgen probe` on: a peer of the protocol confirm that listens on a TCP port and
// never agrees by itself. With -forget it forgets to acknowledge CANCEL, and with -fragile it stops at a frame that it
// cannot read. docs/PROBE.md finds the first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/runtime/fsm"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7421", "`address` to listen on")
	forget := flag.Bool("forget", false, "do not acknowledge CANCEL")
	fragile := flag.Bool("fragile", false, "stop at a frame of an unknown type")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go serve(c, *forget, *fragile)
	}
}

// serve plays one peer.
func serve(c net.Conn, forget, fragile bool) {
	defer c.Close()
	peer := confirm.NewPeerRunner()
	peer.Start()
	var in, out []byte
	buf := make([]byte, 4096)
	for {
		size, err := peer.FrameSize(in)
		if err != nil && fragile {
			fmt.Fprintln(os.Stderr, "cannot go on:", err)
			os.Exit(3)
		}
		if err != nil {
			return
		}
		if size == 0 || size > len(in) {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			in = append(in, buf[:n]...)
			continue
		}
		res, err := peer.Frame(0, in[:size])
		if fragile && err != nil {
			fmt.Fprintln(os.Stderr, "cannot go on:", err)
			os.Exit(3)
		}
		if err != nil || res.Code == fsm.Refused {
			return
		}
		in = in[size:]
		out, err = answers(out[:0], peer, forget)
		if _, werr := c.Write(out); errors.Join(err, werr) != nil {
			return
		}
	}
}

// answers appends what the last step sends.
func answers(out []byte, peer *confirm.PeerRunner, forget bool) ([]byte, error) {
	for i := range peer.Effects() {
		if peer.Effect(i).Kind != fsm.Send || forget && peer.Message(i).Kind == confirm.MessageCancelack {
			continue
		}
		var err error
		if out, err = peer.AppendFrame(out, i); err != nil {
			return out, err
		}
	}
	return out, nil
}
