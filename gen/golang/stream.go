package golang

// streamMethod is the template for the method Stream of a runner; see method.
const streamMethod = `Stream(from fsm.Peer, in, out []byte, limit int) (s fsm.Streamed) {
s.Out = out
for before := r.Machine.State; ; s.Frames++ {
	n, err := $2
	if err != nil || n <= 0 || n > min(len(in)-s.Bytes, maxFrame) {
		return s
	}
	s.Result, s.Err = r.Frame(from, in[s.Bytes:s.Bytes+n:s.Bytes+n])
	if s.Err != nil || s.Result.Code != fsm.Took || r.Machine.State != before {
		s.Next = n
		return s
	}
	for i := range r.effects.list {
		e := &r.effects.list[i]
		if e.Kind != fsm.Send || e.Peer != from {
			s.Next = n
			return s
		}
		if out, err = AppendMessage(out, &e.Message); err != nil || len(out) > limit {
			s.Next = n
			return s
		}
	}
	s.Out, s.Bytes, s.Sent = out, s.Bytes+n, s.Sent+len(r.effects.list)
}
}`
