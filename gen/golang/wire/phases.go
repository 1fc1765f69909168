package wire

import (
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// unnamed reports whether a function of a phase is of no use, because one that is told who receives takes its place.
func unnamed(p *model.Protocol, name string) bool {
	return p.Directed() && (name == "DecodeMessage" || name == "FrameSize" && p.Wire.Self)
}

// choosers composes the functions that find and read a frame in a phase, and the one that says what follows.
func choosers(g *types.Gen) (out []*gotree.Func) {
	size := &gotree.Switch{Tag: gotree.X("phase")}
	decode := &gotree.Switch{Tag: gotree.X("phase")}
	for k := range g.P.Wire.Phases {
		view := g.P.In(k)
		if len(view.Messages) == 0 {
			continue
		}
		to := func(function string) []gotree.Expr {
			if unnamed(view, function) {
				return []gotree.Expr{gotree.X("to")}
			}
			return []gotree.Expr{}
		}
		at := []gotree.Expr{gotree.Int(k)}
		size.Cases = append(size.Cases, &gotree.Case{List: at,
			Body: gotree.S("return $1($2, b)", g.OfPhase("FrameSize", k), to("FrameSize"))})
		decode.Cases = append(decode.Cases, &gotree.Case{List: at,
			Body: gotree.S("return $1($2, b, m)", g.OfPhase("DecodeMessage", k), to("DecodeMessage"))})
	}
	f := gotree.F(`func FrameSizeIn($1 string, phase uint8, b []byte) (int, error) {
	$2
	return 0, wire.Error{Problem: wire.UnknownType}
}`, gotree.Used([]gotree.Stmt{size}, "to"), gotree.Stmt(size))
	f.Doc = base.Comment("FrameSizeIn", "returns the length in bytes of the frame that starts at b[0], 0 if b is "+
		"too short to tell, or an error, a wire.Error, if no frame that a role receives in a phase can start so. "+
		"The phase is its place in Info().Phases.")
	out = append(out, f)
	f = gotree.F(`func DecodeMessageIn($1 string, phase uint8, b []byte, m *Message) error {
	$2
	return wire.Error{Problem: wire.UnknownType}
}`, gotree.Used([]gotree.Stmt{decode}, "to"), gotree.Stmt(decode))
	f.Doc = base.Comment("DecodeMessageIn", "decodes one whole frame that a role receives in a phase into m. "+
		"The error is a wire.Error; m is of no use then. The frame is not kept, and nothing is "+
		"allocated unless there is an error.")
	out = append(out, f)
	next := &gotree.Switch{Tag: gotree.X("kind")}
	for k := range g.P.Wire.Phases {
		var list []gotree.Expr
		for _, m := range g.P.Messages {
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
	out = append(out, f)
	return out
}

// appendAny composes AppendMessage, which leaves a message to the codec of its channel.
func appendAny(g *types.Gen) *gotree.Func {
	kinds := &gotree.Switch{Tag: gotree.X("m.Kind")}
	for k := range g.P.Channels() {
		c := &gotree.Case{Body: gotree.S("return $1(dst, m)", g.OfChannel("AppendMessage", k))}
		for _, m := range g.P.Messages {
			if m.Channel == k {
				c.List = append(c.List, gotree.Name{Name: g.Messages[m.Index].Kind})
			}
		}
		if len(c.List) > 0 {
			kinds.Cases = append(kinds.Cases, c)
		}
	}
	f := gotree.F(`func AppendMessage(dst []byte, m *Message) ([]byte, error) {
	$1
	return dst, wire.Error{Problem: wire.UnknownType, Value: int64(m.Kind)}
}`, gotree.Stmt(kinds))
	f.Doc = base.Comment("AppendMessage", "appends the frame of m, as its channel has it, to dst. If m has no "+
		"encoding the error is a wire.Error and dst is returned as it was.")
	return f
}
