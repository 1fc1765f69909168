package wire

import (
	"slices"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
)

// inPhases composes the reading of frames of a stream with phases: for each phase what a protocol with its messages
// alone has, under names of its own, and functions that choose among these.
func (g *Codec) inPhases() {
	whole := g.P
	var heads []*gotree.Func
	var tails []table
	size := &gotree.Switch{Tag: gotree.X("phase")}
	decode := &gotree.Switch{Tag: gotree.X("phase")}
	to := gotree.X("to")
	for k := range whole.Wire.Phases {
		view := whole.In(k)
		if len(view.Messages) == 0 {
			continue // its bytes are nobody's
		}
		own := *g.Gen
		own.P = view
		c := New(&own)
		c.words, c.codes = g.words, g.codes
		c.reading()
		names := map[string]string{}
		for _, n := range base.PhaseNames {
			names[n] = g.OfPhase(n, k)
		}
		sizeArgs, decodeArgs := []gotree.Expr{}, []gotree.Expr{}
		if view.Directed() {
			decodeArgs = []gotree.Expr{to}
			c.funcs = slices.DeleteFunc(c.funcs, func(f *gotree.Func) bool { return f.Name == "DecodeMessage" })
			if whole.Wire.Self {
				sizeArgs = []gotree.Expr{to}
				c.funcs = slices.DeleteFunc(c.funcs, func(f *gotree.Func) bool { return f.Name == "FrameSize" })
			}
		}
		c.renameTo(names)
		heads, tails = append(heads, c.funcs...), append(tails, c.tail...)
		at := []gotree.Expr{gotree.Int(k)}
		size.Cases = append(size.Cases, &gotree.Case{List: at,
			Body: gotree.S("return $1($2, b)", g.OfPhase("FrameSize", k), sizeArgs)})
		decode.Cases = append(decode.Cases, &gotree.Case{List: at,
			Body: gotree.S("return $1($2, b, m)", g.OfPhase("DecodeMessage", k), decodeArgs)})
	}
	f := gotree.F(`func FrameSizeIn($1 string, phase uint8, b []byte) (int, error) {
	$2
	return 0, wire.Error{Problem: wire.UnknownType}
}`, gotree.Used([]gotree.Stmt{size}, "to"), gotree.Stmt(size))
	f.Doc = base.Comment("FrameSizeIn", "returns the length in bytes of the frame that starts at b[0], 0 if b is "+
		"too short to tell, or an error, a wire.Error, if no frame that a role receives in a phase can start so. "+
		"The phase is its place in Info().Phases.")
	g.add(f)
	f = gotree.F(`func DecodeMessageIn($1 string, phase uint8, b []byte, m *Message) error {
	$2
	return wire.Error{Problem: wire.UnknownType}
}`, gotree.Used([]gotree.Stmt{decode}, "to"), gotree.Stmt(decode))
	f.Doc = base.Comment("DecodeMessageIn", "decodes one whole frame that a role receives in a phase into m. "+
		"The error is a wire.Error; m is of no use then. The frame is not kept, and nothing is "+
		"allocated unless there is an error.")
	g.add(f)
	next := &gotree.Switch{Tag: gotree.X("kind")}
	for k := range whole.Wire.Phases {
		var list []gotree.Expr
		for _, m := range whole.Messages {
			if m.Next == k {
				list = append(list, gotree.Name{Name: g.Messages[m.Index].Kind})
			}
		}
		if len(list) > 0 {
			next.Cases = append(next.Cases, &gotree.Case{List: list, Body: gotree.S("return $1", k)})
		}
	}
	f = gotree.F("func PhaseAfter(phase uint8, kind MessageKind) uint8 {\n$1\nreturn phase\n}", gotree.Stmt(next))
	f.Doc = base.Comment("PhaseAfter", "returns the phase of a stream behind a message.")
	g.add(f)
	g.funcs, g.tail = append(g.funcs, heads...), append(g.tail, tails...)
}
