package capture

// stories are captures of one conversation and the events that a reader must find in them;
// synth_test.go has the language.
var stories = []struct{ name, script, want string }{
	{"a whole connection", `
c S 100 0
s SA 300 101
c A 101 301
c A 101 301 hello
s A 301 106 hi
c FA 106 303
s A 303 107 bye
s FA 306 107
c A 107 307
`, `
2 s open
4 c data "hello"
5 s data "hi"
6 c close
7 s data "bye"
8 s close
`},
	{"the first data carries the third acknowledgement", `
c S 100 0
s SA 300 101
c A 101 301 hello
`, `
2 s open
3 c data "hello"
`},
	{"sent again", `
c S 100 0
s SA 300 101
c A 101 301 hello
c A 101 301 hello
c A 100 301 x
c A 106 301 world
c A 101 301 helloworld
`, `
2 s open
3 c data "hello"
6 c data "world"
`},
	{"overlap: the first copy of a byte counts", `
c S 100 0
s SA 300 101
c A 101 301 abcde
c A 104 301 XYfgh
c A 112 301 lmno
c A 110 301 JKLM
c A 109 301 i
`, `
2 s open
3 c data "abcde"
4 c data "fgh"
7 c data "i"
7 c data from=6 "JKLM"
7 c data from=5 "no"
`},
	{"out of order", `
c S 100 0
s SA 300 101
c A 107 301 ghi # third
c FA 110 301
c A 104 301 def # second
s A 301 101 hi
c A 101 301 abc # first
`, `
2 s open
6 s data "hi"
7 c data "abc" # first
7 c data from=5 "def" # second
7 c data from=3 "ghi" # third
7 c close from=4
`},
	{"lost in the capture, known by the acknowledgement", `
c S 100 0
s SA 300 101
c A 101 301 abc
c A 108 301 hij
s A 301 111 ok
c A 111 303 k
`, `
2 s open
3 c data "abc"
5 c gap lost=4: the receiver acknowledged bytes that are not in the file
5 c data from=4 "hij"
5 s data "ok"
6 c data "k"
`},
	{"lost, acknowledged before the later bytes came by", `
c S 100 0
s SA 300 101
s A 301 105
c A 105 301 efg
`, `
2 s open
4 c gap lost=4: the receiver acknowledged bytes that are not in the file
4 c data "efg"
`},
	{"the last bytes and the FIN are acknowledged but not in the file", `
c S 100 0
s SA 300 101
c FA 105 301
s A 301 106 hi
c A 106 309
`, `
2 s open
4 c gap lost=4: the receiver acknowledged bytes that are not in the file
4 c close from=3
4 s data "hi"
5 s gap lost=6: the receiver acknowledged bytes that are not in the file
`},
	{"a hole that nobody filled hides what is behind", `
c S 100 0
s SA 300 101
c A 105 301 efg
s A 301 101 # no cause of what the end of the file shows
`, `
2 s open
4 c gap lost=4: the bytes did not come before the end of the file
`},
	{"only one direction captured", `
c S 100 0
c A 101 301 abc
c A 108 301 hij
c A 111 301 k
c FA 112 301
`, `
2 c open
2 c data "abc"
5 c gap lost=4: the bytes did not come before the end of the file
5 c data from=3 "hij"
5 c data from=4 "k"
5 c close
`},
	{"cut by the snap length", `
c S 100 0
s SA 300 101
c A 101 301 abcdef cut=2
c A 107 301 ghi
c A 110 301 jkl cut=3
`, `
2 s open
3 c data "abcd"
3 c gap lost=2: the capture's snap length cut the packet
4 c data "ghi"
5 c gap lost=3: the capture's snap length cut the packet
`},
	{"refused", `
c S 100 0
s RA 0 101
`, `
2 s reset
`},
	{"reset", `
c S 100 0
s SA 300 101
c A 104 301 def
s R 301 0
`, `
2 s open
4 s reset
4 c gap lost=3: the connection was reset before the bytes came
`},
	{"reset while bytes of the other side are on their way", `
c S 100 0
s SA 300 101
c A 104 301 def
s R 301 0
c A 101 301 abc
s R 301 0
c FA 107 301
`, `
2 s open
4 s reset
5 c data "abc"
5 c data from=3 "def"
7 c close
`},
	{"a reset with another number than the receiver waits for", `
c S 100 0
s SA 300 101
c A 101 301 one
c R 105 0
c R 30000 0
c R 90000 0
s R 299 0
s A 301 104 two
c A 104 304 three
c R 109 0
`, `
2 s open
3 c data "one"
8 s data "two"
9 c data "three"
10 c reset
`},
	{"a reset after which its sender sends on", `
c S 100 0
s SA 300 101
c A 101 301 one
c R 104 0
s A 301 104 two
c A 104 304 three
s FA 304 109
c R 109 0
`, `
2 s open
3 c data "one"
5 s data "two"
6 c data "three"
7 s close
8 c reset
`},
	{"a reset after which its sender still reads", `
c S 100 0
s SA 300 101
c A 101 301 one
c R 104 0
s A 301 104 two
c A 104 304
s A 304 104 three
`, `
2 s open
3 c data "one"
5 s data "two"
7 s data "three"
`},
	{"a late packet from before the reset does not undo it", `
c S 100 0
s SA 300 101
c A 101 301 one
s A 301 104 two
c A 107 304 nine
c R 111 0
c A 104 304 six
`, `
2 s open
3 c data "one"
4 s data "two"
6 c reset
7 c data "six"
7 c data from=5 "nine"
`},
	{"a refusal of another SYN", `
c S 100 0
s RA 0 999
s SA 300 101
c A 101 301 abc
`, `
3 s open
4 c data "abc"
`},
	{"a SYN with another number inside a connection", `
c S 100 0
s SA 300 101
c A 101 301 one
c S 70000 0
s A 301 104
c A 104 301 two
`, `
2 s open
3 c data "one"
6 c data "two"
`},
	{"a connection without an end, and another one whose answer is not in the file", `
c S 100 0
s SA 300 101
c A 101 301 one
c S 900000 0
c A 900001 7000 two
`, `
2 s open conn=0
3 c data conn=0 "one"
5 c open conn=1
5 c data conn=1 "two"
`},
	{"a window is as large as both have agreed on", `
c SW 100 0
s SAW 300 101
c A 101 301 one
s A 301 104
c A 4000104 301 far
s A 301 4000107
c A 30000000 301 wild
s A 301 4000200
`, `
2 s open
3 c data "one"
6 c gap lost=4000000: the receiver acknowledged bytes that are not in the file
6 c data from=5 "far"
8 c gap lost=93: the receiver acknowledged bytes that are not in the file
`},
	{"a window without a scale, as only one has offered it", `
c S 100 0
s SAW 300 101
c A 101 301 one
s A 301 104
c A 4000104 301 far
c A 104 301 two
`, `
2 s open
3 c data "one"
6 c data "two"
`},
	{"the scale is not in the file, so any may hold", `
c A 101 301 one
s A 301 104
c A 4000104 301 far
s A 301 4000107
`, `
1 c open
1 c data "one"
4 c gap lost=4000000: the receiver acknowledged bytes that are not in the file
4 c data from=3 "far"
`},
	{"a FIN and bytes far ahead of the window", `
c S 100 0
s SA 300 101
c A 101 301 one
c FA 1000000 301
c A 500000000 301 wild
c FA 200 301
c A 104 301 two
c FA 107 301
s A 301 108
`, `
2 s open
3 c data "one"
7 c data "two"
8 c close
`},
	{"reset by one who has read more than the file holds", `
c S 100 0
s SA 300 101
s RA 301 111
c R 111 0
`, `
2 s open
3 s reset
4 c gap lost=10: the receiver acknowledged bytes that are not in the file
`},
	{"the FIN comes with the last bytes, twice", `
c S 100 0
s SA 300 101
c FA 104 301 bye
c A 101 301 and
c FA 104 301 bye
s A 301 108
`, `
2 s open
4 c data "and"
4 c data from=3 "bye"
4 c close from=3
`},
	{"two versions wait behind a hole: the first captured counts", `
c S 100 0
s SA 300 101
c A 104 301 first
c A 104 301 second
c A 101 301 abc
`, `
2 s open
5 c data "abc"
5 c data from=3 "first"
5 c data from=4 "d"
`},
	{"a reset after both sides have finished says nothing", `
c S 100 0
s SA 300 101
c FA 101 301
s FA 301 102
c R 102 0
`, `
2 s open
3 c close
4 s close
`},
	{"the same ports again", `
c S 100 0
c S 100 0
s SA 300 101
c A 101 301 one
c R 104 0
c S 9000 0
s SA 8000 9001
c A 9001 8001 two
`, `
3 s open conn=0
4 c data conn=0 "one"
5 c reset conn=0
7 s open conn=1
8 c data conn=1 "two"
`},
	{"both connect at once", `
c S 100 0
s S 300 0
c SA 100 301
s SA 300 101
c A 101 301 abc
s A 301 104 def
`, `
3 c open
5 c data "abc"
6 s data "def"
`},
	{"begun in the middle", `
s A 301 104 abc
c A 104 304 x
s A 298 105 zzzabcdef
`, `
1 s open
1 s data "abc"
2 c data "x"
3 s data "def"
`},
	{"numbers wrap around", `
c S 4294967293 0
s SA 300 4294967294
c A 4294967294 301 ab
c A 2 301 efg
c A 0 301 cd
`, `
2 s open
3 c data "ab"
5 c data "cd"
5 c data from=4 "efg"
`},
	{"data in the SYN", `
c S 100 0 fast
s SA 300 105
c A 105 301 er
`, `
1 c data "fast"
2 s open
3 c data "er"
`},
	{"not of this stream", `
c S 100 0
s SA 300 101
c A 2000000000 301 wild
s A 301 2000000000 ack
c A 101 304 tame
`, `
2 s open
4 s data "ack"
5 c data "tame"
`},
	{"bytes after the FIN", `
c S 100 0
s SA 300 101
c FA 101 301
c A 102 301 ghost
s A 301 102 hi
`, `
2 s open
3 c close
5 s data "hi"
`},
	{"datagrams", `
c U - - one # first
s U - - two
c U - -
c U - - three cut=2
`, `
1 c open # first
1 c data "one" # first
2 s data "two"
3 c data ""
4 c gap "thr" lost=2: the capture's snap length cut the packet
`},
}
