// Package probe tests a program that runs somewhere against a specification. It connects to the program, plays
// another instance of a check, and holds what comes against the machine of the program's role. It knows neither
// what a machine means, nor channels, nor frames: the interpreter steps our machine in a world of runtime/world,
// the search of gen/replay explains the program, and gen/stage looks ahead to what is not covered yet.
//
// What we do is a [Script]: acts that go out one after the other, each when the program has said what it owes.
// A session that goes wrong is a [Finding] with a script that was made as short as it can be. Start from [Run].
package probe
