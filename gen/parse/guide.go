package parse

// Guide describes for editors what may stand at a place of a specification.
type Guide struct {
	// What names the place in messages: "a branch".
	What string
	// Keys are the known keys of a map here.
	Keys []KeyGuide
	// Open is set if other keys may be added. They are names that the specification gives or
	// knows.
	Open bool
	// Words are the only single values that may stand here; nil if any may.
	Words []string
	// List and Scalar are set if a list or a single value may stand here.
	List, Scalar bool
}

// KeyGuide is one known key.
type KeyGuide struct {
	Name, Doc string
	Map, List bool // what its value can be
}

// Item is the element of a path that leads into a list.
const Item = "[]"

// Look returns what may stand at the end of a path of keys, with [Item] for each list. ok is false
// if the path leads nowhere.
func Look(path []string) (g Guide, ok bool) {
	s := &specShape
	for _, k := range path {
		var next *shape
		if k == Item {
			next = s.list
		} else if sub, known := s.lookup(k); known {
			next = sub
		} else {
			next = s.open
		}
		if next == nil {
			return Guide{}, false
		}
		s = next
	}
	g = Guide{What: s.what, Open: s.open != nil, List: s.list != nil, Scalar: s.scalar != nil}
	if s.scalar != nil {
		g.Words = s.scalar.words
	}
	for _, k := range s.keys {
		g.Keys = append(g.Keys, KeyGuide{Name: k.name, Doc: s.doc(k.name), Map: k.s.isMap(),
			List: k.s.list != nil})
	}
	return g, true
}
