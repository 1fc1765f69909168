// Package drive holds the driver of runtime/driver against the world of runtime/world, which says
// what lies between machines. Its tests run real drivers over the in-memory link. They are the
// network between them: they hand over, lose, copy and reorder frames, bring links up, break them and
// bring them back, part the drivers into two sets, let time pass, give commands, and switch drivers
// off, also in the middle of a step, and on again. The world takes each of these as a move, with the
// interpreter as its machines; after every one, the values of the machines, what they hold back,
// their timers and the frames under way must be the same.
//
// Runs of the simulator, runtime/sim, are held against the world by their records: what happens to
// their machines, in the order in which it does, must be moves of the world.
//
// The machines are those of random specifications, for which the interpreter stands in as a runner,
// and the generated ones of all shipped specifications. PARLEY_DRAWS says how many runs a test
// draws.
package drive
