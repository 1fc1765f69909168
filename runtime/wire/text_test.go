package wire

import (
	"testing"

	"github.com/parley-go/parley/runtime/fsm"
)

func TestText(t *testing.T) {
	for want, got := range map[string][]byte{
		"x: -3":                   AppendInt(nil, "x: ", -3),
		"x: 18446744073709551615": AppendUint(nil, "x: ", 1<<64-1),
		"x: true":                 AppendBool(nil, "x: ", true),
		"x: []":                   AppendBools(nil, "x: ", nil),
		"x: [true, false, true]":  AppendBools(nil, "x: ", []bool{true, false, true}),
		"x: red":                  AppendWord(nil, "x: ", "red"),
		`x: "a \"b\""`:            AppendText(nil, "x: ", `a "b"`, false),
		`x: "ab"...`:              AppendText(nil, "x: ", "ab", true),
		"[a, b":                   append(Comma(append(Comma([]byte("["), 0), 'a'), 1), 'b'),
		"send CANCEL to 3":        AppendTo([]byte("send CANCEL"), 3),
		"close to all":            AppendTo([]byte("close"), fsm.Broadcast),
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
