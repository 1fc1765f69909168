// Package tla reads modules of TLA+ and evaluates them one configuration after the other, as TLC does. Only tests
// use it: what `fsmgen export --to tla` writes is held against the checker by it where TLC is not at hand. It must
// not know how the export works. It is written from Lamport's "Specifying Systems" and from what TLC says of
// itself, for the part of the language that the export writes, and it is strict: it takes nothing that SANY or TLC
// would not take. So lists of /\ and \/ must be aligned, operators whose precedences overlap need parentheses, no
// name is declared twice in its scope, only variables are primed, a step gives each variable a value exactly once,
// and values of different kinds are not compared.
//
// parse makes a tree, compile finds names, levels and what TLC would refuse, and makes functions, search visits the
// configurations, and live asks about whole runs. Start from [Parse].
package tla
