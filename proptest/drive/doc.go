// Package drive compares the driver of runtime/driver with the world of runtime/world, which defines
// how machines and the network between them behave. It runs real drivers over in-memory links
// and play the network: they deliver, lose, copy and reorder frames, bring links up, break them and
// bring them back, partition the drivers, let time pass, give commands, and switch drivers off and on
// again, also in the middle of a step. In place of a hostile instance they send any message of the
// protocol, and what is none. The world, whose machines are run by the interpreter, makes
// each of these as a move. After every move both sides must agree on the values of the machines,
// their deferred messages, their timers and the frames under way.
//
// The simulator, runtime/sim, is compared by its records: what they say, in that order, must be moves
// of the world.
//
// The machines are generated ones; start from [NewCheck]. In the tests they are those of all shipped
// specifications, and those of random ones, which the interpreter runs for the drivers too. PARLEY_DRAWS
// sets how many runs a test draws.
package drive
