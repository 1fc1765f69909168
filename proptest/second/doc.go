// Package second is a second checker, for second opinions. It was written from docs/LANGUAGE.md,
// docs/CHECKER.md and the decisions about time, faults and links, and shares nothing with the first one
// but the reading of YAML and of expressions: it must not import the model, the interpreter, the world or
// the explorer, and a rule of the repository holds it to that. It is small and slow: a configuration is a
// text in a map, nothing is reduced, and every expression is evaluated where it stands. What both say is
// so rests on two readings of the same pages. Start from [Load] and [Check.Run].
package second
