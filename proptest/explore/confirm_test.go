package explore

import "fmt"

// confirmPeer is the peer of testdata/confirm-update.pml, by hand: Confirm
// with changes carried by Update. A local value is the state of Confirm and,
// for each property, state, own value and value sent.
type confirmPeer struct {
	pid, props, values int
	own                bool
	unsent             int // K: a change is begun only while the channel holds fewer
	out                int
	labels             map[string]uint32
}

// The messages of confirm-update.pml; from msgUpdate on they carry a change.
const (
	msgC1 = 1 + iota
	msgC2
	msgCX
	msgCA
	msgUpdate = 16
	noValue   = 7
)

func (p *confirmPeer) Init() []byte {
	v := []byte{0}
	for range p.props {
		v = append(v, 1, 0, noValue)
	}
	return v
}

func (p *confirmPeer) Final(v []byte) bool { return v[0] == 8 }

func (p *confirmPeer) wins(prop int) bool { return p.pid == prop&1 }

func (p *confirmPeer) step(v []byte, name string, msgs ...byte) Step {
	s := Step{Label: p.labels[name], Next: v}
	for _, m := range msgs {
		s.Sends = append(s.Sends, Send{Channel: p.out, Msg: []byte{m}})
	}
	return s
}

func (p *confirmPeer) Local(v []byte, emit func(Step)) {
	to := func(x byte, name string, msgs ...byte) {
		n := append([]byte(nil), v...)
		n[0] = x
		emit(p.step(n, name, msgs...))
	}
	switch v[0] {
	case 0:
		to(1, "confirm", msgC1)
	case 1:
		to(4, "cancel", msgCX)
	case 2:
		to(3, "confirm", msgC2)
	case 4:
		to(5, "confirm")
	case 5:
		to(4, "cancel")
	case 6:
		to(7, "confirm")
	}
	if v[0] > 6 || v[0]%2 != 0 {
		return
	}
	for prop := range p.props {
		for x := range p.values {
			if (!p.own || p.wins(prop)) && int(v[2+3*prop]) != x {
				p.change(v, prop, byte(x), emit)
			}
		}
	}
}

// change is what loc does in the Promela model.
func (p *confirmPeer) change(v []byte, prop int, x byte, emit func(Step)) {
	n := append([]byte(nil), v...)
	u := n[1+3*prop:]
	var msgs []byte
	switch {
	case u[0] == 1:
		msgs = []byte{msgUpdate + 4*byte(prop) + x}
		u[0], u[1], u[2] = 2, x, x
	case u[0] == 2:
		u[0], u[1] = 3, x
	case x == u[2]:
		u[0], u[1] = 2, x
	default:
		u[1] = x
	}
	s := p.step(n, "change", msgs...)
	if len(msgs) > 0 && p.unsent > 0 {
		s.Lens = []LenRange{{Channel: p.out, Lo: 0, Hi: p.unsent - 1}}
	}
	emit(s)
}

// update is what proc does in the Promela model; it returns the answer.
func (p *confirmPeer) update(n []byte, m byte) []byte {
	prop, x := int(m-msgUpdate)/4, m&3
	u := n[1+3*prop:]
	mine := x == u[2] || p.wins(prop)
	switch {
	case u[0] == 1:
		u[1] = x
		return []byte{m}
	case u[0] == 2:
		u[0], u[2] = 1, noValue
		if !mine {
			u[1] = x
		}
	case mine:
		u[0], u[2] = 2, u[1]
		return []byte{msgUpdate + 4*byte(prop) + u[1]}
	default:
		u[0], u[1], u[2] = 1, x, noValue
	}
	return nil
}

func (p *confirmPeer) Receive(v []byte, _ int, msg []byte, emit func(Step)) {
	n := append([]byte(nil), v...)
	kind := min(msg[0], msgUpdate)
	name := fmt.Sprintf("receive %d in %d", kind, v[0])
	to := func(x byte, msgs ...byte) {
		n[0] = x
		emit(p.step(n, name, msgs...))
	}
	type on struct{ state, kind byte }
	switch (on{v[0], kind}) {
	case on{0, msgC1}:
		to(2)
	case on{0, msgUpdate}, on{4, msgUpdate}:
		to(v[0], p.update(n, msg[0])...)
	case on{1, msgC1}:
		to(3, msgC2)
	case on{1, msgC2}:
		to(8, msgC2)
	case on{1, msgUpdate}:
		to(4, append([]byte{msgCX}, p.update(n, msg[0])...)...)
	case on{2, msgCX}:
		to(0, msgCA)
	case on{3, msgC2}:
		to(8)
	case on{3, msgCX}:
		to(1, msgCA)
	case on{4, msgC1}, on{4, msgC2}:
		to(6)
	case on{4, msgCA}:
		to(0)
	case on{5, msgC1}, on{5, msgC2}:
		to(7)
	case on{5, msgCA}:
		to(1, msgC1)
	case on{5, msgUpdate}:
		to(4, p.update(n, msg[0])...)
	case on{6, msgC2}, on{7, msgC2}:
		to(v[0])
	case on{6, msgCX}, on{7, msgCX}:
		to(v[0]-2, msgCA)
	case on{6, msgCA}:
		to(2)
	case on{7, msgCA}:
		to(3, msgC2)
	default:
		emit(Step{Label: p.labels[name], Fault: &Fault{Kind: UnspecifiedReception, Text: name}})
	}
}

// confirmUpdate is the whole system with the parameters D, P, OWN and K.
func confirmUpdate(values, props int, own bool, unsent int) *System {
	labels := map[string]uint32{}
	sys := &System{Name: "confirm-update"}
	add := func(name string) {
		labels[name] = uint32(len(sys.Labels))
		sys.Labels = append(sys.Labels, Label{Name: name})
	}
	add("confirm")
	add("cancel")
	add("change")
	for state := range 9 {
		for _, m := range []int{msgC1, msgC2, msgCX, msgCA, msgUpdate} {
			add(fmt.Sprintf("receive %d in %d", m, state))
		}
	}
	for pid := range 2 {
		sys.Procs = append(sys.Procs, &confirmPeer{pid: pid, props: props, values: values, own: own,
			unsent: unsent, out: 1 - pid, labels: labels})
		sys.ProcNames = append(sys.ProcNames, fmt.Sprintf("peer%d", pid))
		sys.Channels = append(sys.Channels, Channel{Name: fmt.Sprintf("to%d", pid), From: 1 - pid, To: pid, Cap: 8})
	}
	sys.Claims = confirmClaims(props)
	return sys
}

// confirmClaims are the assertions of the Promela model.
func confirmClaims(props int) []Claim {
	done := func(v []byte) uint32 {
		if v[0] == 8 {
			return 1
		}
		return 0
	}
	length := func(w Word) uint32 { return uint32(min(len(w), 1)) }
	both := []func([]byte) uint32{done, done}
	claims := []Claim{{
		Name: "nothing is under way when both are done", Procs: both, Chans: []func(Word) uint32{length, length},
		Eval:     func(p, c []uint32) bool { return p[0] == 0 || p[1] == 0 || c[0]+c[1] == 0 },
		Relevant: func(p, _ []uint32) bool { return p[0]+p[1] == 2 },
	}}
	for prop := range props {
		value := func(v []byte) uint32 {
			if v[0] != 8 {
				return 0
			}
			return 1 + uint32(v[1+3*prop])*8 + uint32(v[2+3*prop])
		}
		claims = append(claims, Claim{
			Name:     fmt.Sprintf("property %d agrees when both are done", prop),
			Procs:    []func([]byte) uint32{value, value},
			Eval:     func(p, _ []uint32) bool { return p[0] == 0 || p[1] == 0 || p[0] == p[1] && (p[0]-1)/8 == 1 },
			Relevant: func(p, _ []uint32) bool { return p[0] != 0 && p[1] != 0 },
		})
	}
	return claims
}
