// Package tla writes a check as a module of TLA+ and the configurations with which TLC runs it. Like package export
// it is a pure function of the model and must not know the checker; that TLC would visit the same configurations is
// tested where both are known, in proptest/tla. What the module cannot say is an [export.Unsupported] error.
//
// A module has five parts. What the specification says comes from the lowered form, gen/core: each machine is a
// record, and each of its events an operator from a step to a step. What lies between machines is the text
// world.tla.in, which follows runtime/world function by function; lines for what the check has nothing of are left
// out. The tables of that text (channels, links, bounds of faults) are those of gen/stage, the rules that the
// checker has, too. Claims become invariants and properties. So one configuration is one state of TLC's: values
// have one form each, a channel without order is a function from what is in it to how often it is, and nothing else
// is remembered but err, which is "" until a step fails.
//
// Each file uses only what stands before it: config, writer, values, expr, stmt with machine, world, claims, module.
package tla
