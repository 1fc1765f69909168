package interp

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// InternDomains gives the texts of domains their handles: 1 is "a", 2 is "b", ...
func (s *Strings) InternDomains(p *model.Protocol) {
	var most int64
	model.EachType(p, func(t *model.Type) {
		if t.Kind == model.KindBytes {
			most = max(most, t.Hi)
		}
	})
	for i := range most {
		var name []byte
		for n := i + 1; n > 0; n = (n - 1) / 26 {
			name = append(name, byte('a'+(n-1)%26))
		}
		slices.Reverse(name)
		s.Intern(name)
	}
}
