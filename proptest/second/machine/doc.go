// Package machine is what a role means to the second checker: its types and values, its expressions, and
// what a machine does with an event. It must know nothing of what lies between machines, nor of claims: what
// an expression can name besides comes through [Outside]. Start from [Role] and [Machine.Step].
package machine
