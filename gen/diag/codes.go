package diag

import "slices"

// Info explains one code. The table below is the only place where codes are
// defined; docs/DIAGNOSTICS.md is generated from it, and every example is run by
// a test and must give its code.
type Info struct {
	Code  string
	Title string
	// Text explains what is wrong and what to do about it.
	Text string
	// Example is YAML that gives the diagnostic. Unless it starts with
	// "protocol:" or has several files ("-- name --" lines, the first is
	// compiled), it extends [Base].
	Example string
	// Check is the check to specialise for, and Const a constant to replace, where the example
	// needs it.
	Check, Const string
	Warning      bool
}

// Base is the specification that examples extend.
const Base = `protocol: base
types:
  Count: 0..9
  Color: {enum: [red, green]}
messages:
  HELLO: {}
  DATA: {fields: {n: Count, color: Color}}
tick: 50ms
roles:
  peer:
    params: {first: bool}
    vars: {total: Count, seen: "Color?"}
    timers: {again: {ticks: 4}}
    commands: {go: {}}
    reports: {got: {fields: {n: Count}}}
    initial: idle
    states:
      idle:
        go: {when: first, send: HELLO, start: again, goto: busy}
        HELLO: {send: "DATA{n: total, color: red}", goto: done}
      busy:
        again: {send: HELLO, start: again}
        DATA: {set: {total: n, seen: color}, report: "got{n: total}", stop: again, goto: done}
      done: {final: true, HELLO: ignore}
checks:
  pair:
    instances: {a: "peer(first: true)", b: "peer(first: false)"}
    claims:
      ends: {sometimes: a.done && b.done && a.seen == red, why: the answer comes}
      plain: {always: a.done => a.total == b.total, why: the answer is what it was}
      comes: {leadsTo: a.done, when: a.busy, fair: strong, why: whoever asks is answered}
  stranger:
    instances: {a: "peer(first: true)", b: "peer(first: false)"}
    hostile: b
`

// Codes returns all codes in order.
func Codes() []Info {
	all := slices.Concat(textCodes, expressionCodes, declarationCodes, machineCodes, wireCodes,
		checkCodes)
	slices.SortFunc(all, func(a, b Info) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}

// Lookup returns the explanation of a code.
func Lookup(code string) (Info, bool) {
	for _, i := range Codes() {
		if i.Code == code {
			return i, true
		}
	}
	return Info{}, false
}
