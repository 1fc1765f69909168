// Package campaign plays many seeded runs of a check in a world of runtime/world: a seed says which
// faults there are in its run, how likely each thing is that can happen, and what happens. Each
// configuration is judged by the claims that the checker has compiled. A run that violates one is
// made as short as can be, and the checker repeats it.
//
// It knows neither files nor terminals. Start from [New] and [Campaign.Run].
package campaign
