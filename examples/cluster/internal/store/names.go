package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// MaxName is the most bytes of a name.
const MaxName = 64

// ErrName is what is wrong with a name.
var ErrName = errors.New("a name is 1 to 64 bytes of UTF-8, without control characters")

// CheckName reports what is wrong with the name of a lobby, a match, a player or a server.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%w: %.70q", ErrName, name)
	}
	return nil
}

// Encode writes a name in the bytes that NATS allows in one token of a subject or key. Letters, digits, - and _
// stand for themselves, any other byte is = and two digits. Different names have different codes.
func Encode(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('=')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// Decode returns the name that a token stands for; ok is false if it stands for none.
func Decode(token string) (name string, ok bool) {
	var b []byte
	for i := 0; i < len(token); i++ {
		if token[i] != '=' {
			b = append(b, token[i])
			continue
		}
		var c byte
		if n, err := fmt.Sscanf(token[i+1:min(i+3, len(token))], "%02X", &c); n != 1 || err != nil {
			return "", false
		}
		b = append(b, c)
		i += 2
	}
	name = string(b)
	return name, CheckName(name) == nil && Encode(name) == token
}

// Game names what a server serves: a lobby or a match.
type Game struct {
	Kind tenure.Kind
	Name string
}

func (g Game) String() string { return fmt.Sprintf("%v %q", g.Kind, g.Name) }

// key is where the game's entry is.
func (g Game) key() string { return g.Kind.String() + "." + Encode(g.Name) }
