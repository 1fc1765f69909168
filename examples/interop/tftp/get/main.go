// Command get prints a file of a TFTP server: get 127.0.0.1:69 FILE
package main

import (
	"context"
	"log"
	"os"

	"github.com/parley-go/parley/machines/tftp"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

func main() {
	name, _ := tftp.NewFile(os.Args[2])
	h := &tftp.PeerHandlers{
		Block:  func(r tftp.BlockReport) { os.Stdout.Write(r.Data.Data[:r.Data.Len]) },
		Failed: func(r tftp.FailedReport) { log.Fatalf("error %d: %s", r.Code, r.Text) },
	}
	s, err := play.Dial(context.Background(), "udp", os.Args[1], tftp.NewPeerRunner(true), h, play.Options{Peers: 2})
	if err == nil {
		err = s.Give(func(r *tftp.PeerRunner) fsm.Result { return r.Get(name, tftp.Options{}) })
	}
	if err == nil {
		err = s.Wait() // the machine stays for three seconds, in case its last acknowledgement is lost
	}
	if err != nil {
		log.Fatal(err)
	}
}
