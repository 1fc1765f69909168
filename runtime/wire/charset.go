package wire

import "unicode/utf8"

// BadIn returns the index of the first byte of a text that a charset does not allow there, or -1.
// The charsets are "utf8", "ascii" and "printable"; any other allows every byte.
func BadIn(charset string, text []byte) int {
	switch charset {
	case "utf8":
		return BadUTF8(text)
	case "ascii":
		return BadASCII(text)
	case "printable":
		return BadPrintable(text)
	}
	return -1
}

// BadUTF8 returns the index of the first byte that is no part of a character in UTF-8, or -1.
func BadUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
}

// BadASCII returns the index of the first byte above 127, or -1.
func BadASCII(text []byte) int {
	for i, c := range text {
		if c > 127 {
			return i
		}
	}
	return -1
}

// BadPrintable returns the index of the first byte that is not one of 32 to 126, or -1.
func BadPrintable(text []byte) int {
	for i, c := range text {
		if c < ' ' || c > '~' {
			return i
		}
	}
	return -1
}
