package model

// Loose reports whether frames of a message can have bytes that are not looked at when they are
// received, so that the encoder would write others. Of every other message the encoder writes again,
// byte by byte, what the decoder has accepted.
func (w *Wire) Loose(m *Message) bool {
	return w.Surplus || loose(w.Header) || loose(m.Layout) || looseHead(m.Head)
}

func looseHead(list []HeadField) bool {
	for _, h := range list {
		if loose([]WireItem{h.Item}) {
			return true
		}
	}
	return false
}

func loose(items []WireItem) bool {
	for _, item := range items {
		if looseItem(item) {
			return true
		}
	}
	return false
}

func looseItem(item WireItem) bool {
	switch it := item.(type) {
	case *WirePad, *WireAlign, *WireSequence, *WireSpace:
		return true
	case *WireInt:
		return it.Overlong || it.Nonzero
	case *WireConst:
		return it.Overlong
	case *WireLength:
		return it.Overlong
	case *WireType:
		return it.Overlong
	case *WireCount:
		return it.Overlong || it.Field.Type.Kind == KindArray
	case *WirePresent:
		return it.Field.Type.Kind == KindArray || it.Overlong
	case *WireBytes:
		return it.Nul || it.Cut || it.Back || it.LoneLF
	case *WireEach:
		return it.Rows > 0 || len(it.Named) > 0 || loose(it.Items)
	case *WireSized:
		return it.Overlong || loose(it.Items)
	case *WireIf:
		return loose(it.Items)
	case *WireCase:
		for _, b := range it.Branches {
			if loose(b.Items) {
				return true
			}
		}
	case *WireBits:
		for _, part := range it.Parts {
			if looseItem(part.Item) {
				return true
			}
		}
	}
	return false
}
