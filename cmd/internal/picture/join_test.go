package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestJoinWords(t *testing.T) {
	const before = `<g>
<text text-anchor="start" x="24" y="-51.5" font-size="9.00" fill="#0b5394">PING</text>
<text text-anchor="start" x="49" y="-51.5" font-size="9.00" fill="#222222"> / send &lt;ACK</text>
<text text-anchor="start" x="24" y="-41.5" font-size="9.00">alone</text>
</g>
<text text-anchor="start" x="1" y="-41.5">another box</text>
`
	const after = `<g>
<text text-anchor="start" x="24" y="-51.5" xml:space="preserve"><tspan font-size="9.00" fill="#0b5394">PING</tspan><tspan font-size="9.00" fill="#222222"> / send &lt;ACK</tspan></text>
<text text-anchor="start" x="24" y="-41.5" font-size="9.00">alone</text>
</g>
<text text-anchor="start" x="1" y="-41.5">another box</text>
`
	got := string(joinWords([]byte(before)))
	if got != after {
		t.Errorf("got\n%s\nwant\n%s", got, after)
	}
	d := xml.NewDecoder(strings.NewReader("<svg>" + got + "</svg>"))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
