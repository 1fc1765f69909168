package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/model"
)

// A buyer and a seller. What the buyer says to itself in `think` nobody sees; in `shut` it takes no OFFER.
const market = `protocol: market
wire: {header: [type: u8], max: 8}
messages: {HELLO: {id: 1}, OFFER: {id: 2}, BYE: {id: 3}, NEWS: {id: 4}}
roles:
  buyer:
    deferred: 1
    commands: {hello: , think: , leave: , bye: }
    initial: idle
    states:
      idle: {hello: {send: HELLO, goto: open}, defer: [NEWS]}
      open:
        think: {goto: shut}
        leave: {close: , goto: gone}
        bye: {send: BYE, close: , goto: gone}
        OFFER: {}
        NEWS: {}
        lost: {goto: gone}
      shut: {leave: {close: , goto: gone}, BYE: {close: , goto: gone}, NEWS: {}, lost: {goto: gone}}
      gone: {final: true}
  seller:
    external: true
    commands: {offer: , bye: , news: }
    initial: open
    states: {open: {HELLO: {}, BYE: {}, offer: {send: OFFER}, bye: {send: BYE}, news: {send: NEWS}}}
checks:
  shop:
    instances: {b: buyer, s: seller}
`

func marketSpec(t *testing.T, expect string) *model.Protocol {
	t.Helper()
	return protocolOf(t, market+expect)
}

// talk makes a recording of a text: h HELLO, o OFFER, b BYE, n NEWS; an upper-case letter is the seller's. x and X
// are a FIN, r and R a reset. Everything is a millisecond after what came before.
func talk(p *model.Protocol, text string) *Recording {
	var chunks []Chunk
	at := time.Unix(1, 0)
	for i, c := range text {
		at = at.Add(time.Millisecond)
		chunk := Chunk{Packet: i + 1, Time: at}
		if strings.ToUpper(string(c)) == string(c) {
			chunk.From = 1
		}
		switch strings.ToLower(string(c)) {
		case "x":
			chunk.Kind = Close
		case "r":
			chunk.Kind = Reset
		default:
			chunk.Data = []byte{byte(strings.Index("hobn", strings.ToLower(string(c))) + 1)}
		}
		chunks = append(chunks, chunk)
	}
	return Split(p, chunks, false)
}

// TestRefusals: a side that ends the connection over a frame that it may refuse has refused it, unless its machine
// closes there by itself. What came after its end it need not have read.
func TestRefusals(t *testing.T) {
	p := marketSpec(t, "")
	for _, test := range []struct {
		text    string
		refused int    // the number of the frame; 0: none
		or      string // the command that may have closed instead
		ends    string // state at the end
	}{
		{"hO", 0, "", "open"},        // the capture does not show an end
		{"hOX", 0, "", "open"},       // the seller ends it
		{"hOXx", 0, "", "open"},      // and the buyer after it
		{"hx", 0, "", "open"},        // nothing is unread
		{"hNx", 0, "", "open"},       // NEWS is taken everywhere
		{"hOx", 2, "leave", "shut"},  // in shut the OFFER is refused
		{"hOr", 2, "leave", "shut"},  // so with a reset
		{"hOOx", 3, "leave", "shut"}, // it could be the first OFFER, but fewer frames are unread so
		{"hOObx", 0, "", "gone"},     // BYE closes
		{"hObOx", 0, "", "gone"},     // what comes behind its own BYE is nothing to it
		{"hxO", 0, "", "open"},       // captured after the end
		{"hBx", 0, "", "gone"},       // BYE in shut closes; in open it would be refused
		{"NhOx", 3, "leave", "shut"}, // NEWS was held
	} {
		s, err := Explain(t.Context(), talk(p, test.text), 0, Ours(p), Options{})
		if err != nil {
			t.Fatal(err)
		}
		refused, or := 0, ""
		if s.Refusal != nil {
			refused, or = s.Refusal.Frame+1, s.Refusal.Or
			if s.Refusal.After != time.Millisecond || s.Refusal.At.Refuses == "" {
				t.Errorf("%s: %+v", test.text, s.Refusal)
			}
		}
		if refused != test.refused || or != test.or || s.Accepted != (refused == 0) ||
			s.Machines[0].State != test.ends {
			t.Errorf("%s: refused frame %d, or %q, accepted %t, in %s", test.text, refused, or, s.Accepted,
				s.Machines[0].State)
		}
	}
}

// TestExpectedRefusals: in a specification that expects refusals they belong to its runs.
func TestExpectedRefusals(t *testing.T) {
	p := marketSpec(t, "    expect: [unspecified-reception]\n")
	s, err := Explain(t.Context(), talk(p, "hOx"), 0, Ours(p), Options{})
	if err != nil || !s.Accepted || s.Refusal == nil || !s.Refusal.Expected {
		t.Error(err, s.Accepted, s.Refusal)
	}
}
