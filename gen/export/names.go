package export

import (
	"fmt"
	"strings"
)

// names hands out names, each once. None means something to Spin or to a C compiler.
type names struct{ taken map[string]bool }

const reserved = `active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan
	d_step D_proctype do else empty enabled eval false fi for full get_priority goto hidden
	if in init inline int len local ltl mtype nempty never nfull notrace np_ od of pc_value
	pid printf priority proctype provided return run select set_priority short show skip
	STDIN timeout trace true typedef unless unsigned xr xs end accept progress monitor auto
	case char const continue default double enum extern float long register signed sizeof
	static struct switch union void volatile while main now uchar ushort uint`

func (n *names) init() {
	n.taken = map[string]bool{}
	for _, w := range strings.Fields(reserved) {
		n.taken[w] = true
	}
}

// take returns a free name that is like want.
func (n *names) take(want string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		if r == ']' {
			return -1
		}
		return '_'
	}, want)
	name := clean
	for i := 2; n.taken[name]; i++ {
		name = fmt.Sprint(clean, "_", i)
	}
	n.taken[name] = true
	return name
}
