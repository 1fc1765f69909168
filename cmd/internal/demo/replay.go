package demo

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/parley-go/parley/cmd/internal/traffic"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/specs"
)

// replay holds the capture of two real games against the specification.
func (t *tour) replay() error {
	p, diags := compile.Load("netplay/spec.yaml", options())
	if p == nil {
		return diags
	}
	t.netplay = p
	r, err := traffic.Read(t.ctx, p, "uqm-match.pcap", bytes.NewReader(specs.RealMatch), traffic.Options{})
	if err != nil {
		return err
	}
	t.real = r
	t.reportTraffic(r)
	return nil
}

// reportTraffic prints what was found, indented.
func (t *tour) reportTraffic(r *traffic.Report) {
	var b bytes.Buffer
	r.WriteText(&b, false)
	for line := range bytes.Lines(b.Bytes()) {
		fmt.Fprintf(t.out, "     %s", line)
	}
	if !r.Accepted() {
		t.fail("%s is not a run of %s", r.File, r.Spec)
	}
}

// validate holds what the match recorded against the specification.
func (t *tour) validate() error {
	for _, name := range t.match.traces {
		r, err := traffic.Replay(t.ctx, t.netplay, filepath.Join(t.dir, name), traffic.Options{})
		if err != nil {
			return err
		}
		t.reportTraffic(r)
	}
	r, err := traffic.Replay(t.ctx, t.netplay, filepath.Join(t.dir, t.match.capture), traffic.Options{})
	if err != nil {
		return err
	}
	t.reportTraffic(r)
	return nil
}
