package prove

import (
	"cmp"
	"slices"
)

// widen decides what to collapse after a channel grew too long: the letters that
// were added since the last configuration on the way that had the same local values,
// since whatever led from there to here can be repeated. It reports false
// if nothing is left to collapse.
func (s *search) widen() bool {
	grown := s.grown()
	if len(grown) == 0 {
		grown = s.frequent()
	}
	group := s.c.group[s.fullAt]
	fresh := false
	for _, l := range grown {
		if _, ok := group[l]; !ok {
			group[l] = l
			fresh = true
			if !s.together(grown) {
				return true // one at a time: the less is collapsed, the more is known
			}
		}
	}
	return fresh || s.merge(grown)
}

// together reports whether more letters than one have to be collapsed to help.
func (s *search) together(letters []int32) bool { return len(letters) > 4 }

// merge puts letters into one group, since runs of each alone still make endless words.
func (s *search) merge(letters []int32) bool {
	if s.words.sorted[s.fullAt] {
		return false // sorted words have one block for each letter
	}
	group := s.c.group[s.fullAt]
	collapsed := slices.DeleteFunc(slices.Clone(letters), func(l int32) bool { _, ok := group[l]; return !ok })
	if !s.join(collapsed) {
		collapsed = collapsed[:0] // those that grew are together already: take the neighbours
		for _, b := range s.words.list[s.full[s.n+s.fullAt]] {
			collapsed = append(collapsed, b.letters...)
		}
		for _, l := range collapsed {
			if _, ok := group[l]; !ok {
				group[l] = l
			}
		}
		return s.join(collapsed)
	}
	return true
}

// join makes one group of those of the letters, and reports whether there were several.
func (s *search) join(letters []int32) bool {
	group := s.c.group[s.fullAt]
	several := false
	for _, l := range letters {
		a, b := group[letters[0]], group[l]
		if a == b {
			continue
		}
		several = true
		for x, g := range group {
			if g == b {
				group[x] = a
			}
		}
	}
	return several
}

// grown lists the letters of the full channel of which there are more than in the last configuration
// on the way with the same local values, those that grew most first.
func (s *search) grown() []int32 {
	have := s.tally(s.full[s.n+s.fullAt])
	for n := s.from; n >= 0; n = s.parent[n] {
		conf := s.confs[int(n)*s.width : (int(n)+1)*s.width]
		if !slices.Equal(conf[:s.n], s.full[:s.n]) ||
			s.words.size(conf[s.n+s.fullAt]) >= s.words.size(s.full[s.n+s.fullAt]) {
			continue
		}
		before := s.tally(conf[s.n+s.fullAt])
		var out []int32
		for l, k := range have {
			if k > before[l] {
				out = append(out, l)
			}
		}
		slices.SortFunc(out, func(a, b int32) int {
			return cmp.Or(cmp.Compare(have[b]-before[b], have[a]-before[a]), cmp.Compare(a, b))
		})
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// frequent lists the letters of the full channel, those of which there are most first.
func (s *search) frequent() []int32 {
	have := s.tally(s.full[s.n+s.fullAt])
	var out []int32
	for l := range have {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Or(cmp.Compare(have[b], have[a]), cmp.Compare(a, b)) })
	return out
}

// tally counts the blocks of a word by letter.
func (s *search) tally(word int32) map[int32]int {
	out := map[int32]int{}
	for _, b := range s.words.list[word] {
		for _, l := range b.letters {
			out[l]++
		}
	}
	return out
}
