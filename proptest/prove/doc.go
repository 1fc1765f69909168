// Package prove establishes claims for channels without a bound. It tries two
// things in turn. If the channels close by themselves, that is, if no channel ever fills at
// some capacity, what the checker found there holds for every capacity. Otherwise it
// collapses: runs of messages that grow without end become blocks that stand
// for runs of any length, which leaves finitely many configurations. Every run of the real
// machines is a run of these, so what none of them violates is proved; what one of them
// violates is looked for among real runs and believed only if it is found there.
//
// Nothing is called proved by the collapse before the independent verifier has
// accepted the certificate; see package certify.
//
// It must not know YAML or how the explorer works. Start from [Check].
package prove
