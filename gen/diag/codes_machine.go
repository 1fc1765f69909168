package diag

// machineCodes are about states, events, branches, statements and parts.
var machineCodes = []Info{
	{Code: "FSM050", Title: "unknown event",
		Text: "A state's keys are its reserved keys and events: messages, commands, timers, `start`, " +
			"`up`, `lost`, `part.report` and `part.finished`.",
		Example: "roles:\n  peer:\n    states:\n      busy: {HELO: ignore}\n"},
	{Code: "FSM051", Title: "unknown state",
		Text: "`goto`, `resume`, `initial`, `in` and `except` name states of the same role. `initial` of a state " +
			"with states of its own names one of these; `resume` names a state that has some.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {goto: doen}\n"},
	{Code: "FSM052", Title: "event mentioned twice",
		Text: "A state says twice what it does with an event, or two common entries do. Several " +
			"possibilities are branches of one handler.",
		Example: "roles:\n  peer:\n    states:\n      busy: {HELLO: {goto: done}, ignore: [HELLO]}\n"},
	{Code: "FSM053", Title: "branch is never reached",
		Text: "Branches are tried in order, and one before has no condition, so it is always taken.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: [{goto: done}, {when: total == " +
			"3, goto: idle}]\n"},
	{Code: "FSM054", Title: "state is never reached", Warning: true,
		Text: "No chain of gotos leads from the initial state to this one. What guards and messages " +
			"forbid besides is for the checker to find.",
		Example: "roles:\n  peer:\n    states:\n      island: {HELLO: {goto: done}}\n"},
	{Code: "FSM055", Title: "start in a later state", Warning: true,
		Text: "`start` comes once, before anything else, while the machine is in its initial state. What " +
			"other states say about it never happens.",
		Example: "roles:\n  peer:\n    states:\n      busy: {start: {send: HELLO}}\n"},
	{Code: "FSM056", Title: "sent to nobody", Warning: true,
		Text: "The message is sent, but no state of any role handles, ignores or defers it: whoever " +
			"receives it will refuse it.",
		Example: "messages: {BYE: {}}\nroles:\n  peer:\n    states:\n      busy:\n        HELLO: {send: " +
			"BYE, goto: done}\n"},
	{Code: "FSM079", Title: "events of one key that differ",
		Text: "A key of a state may name several events, `\"A, B\": …`, and what it says holds for each of " +
			"them. So the fields that it uses must be fields of " +
			"all of them, with the same types. If they are not, each event needs a line of its own.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        DATA: null\n        \"HELLO, DATA\": " +
			"{set: {total: n}, goto: done}\n"},
	{Code: "FSM059", Title: "keys that do not go together",
		Text: "`to` belongs to `send` or `close`, `then` and `else` to `if`, `do` to `each` or to a branch; " +
			"a branch holds either direct statements or " +
			"`do`; a branch has either `goto` or `resume`; `initial` of a state belongs to its " +
			"`states`, and such a state is " +
			"not `final`; a common entry has either `in` or `except`; only a message, `up` and `lost` have a sender.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {send: HELLO, do: [{set: " +
			"{total: 1}}], goto: done}\n"},
	{Code: "FSM078", Title: "routine that calls itself",
		Text: "A routine is written out wherever it is called, so it cannot be called in the course of " +
			"itself, by itself or by another routine. To do something for " +
			"several values there is `each`.",
		Example: "roles:\n  peer:\n    routines:\n      count: {fields: {n: Count}, do: [{set: {total: n}}, " +
			"{call: \"count{n: n - 1}\"}]}\n    states:\n      busy:\n        HELLO: {call: \"count{n: " +
			"3}\", goto: done}\n"},
	{Code: "FSM060", Title: "unknown message, report, routine or timer",
		Text: "`send` needs a message of this protocol, `report` a report, `call` a routine and `start` " +
			"a timer of this role.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {report: gto}\n"},
	{Code: "FSM061", Title: "part used wrongly",
		Text: "A part needs all parameters of its machine; a keyed part is named with all its keys; every " +
			"message it sends is one of this protocol's, " +
			"or is mapped to one under `send`.",
		Example: "-- spec.yaml --\nprotocol: demo\nextends: base.yaml\nimport: {inner: base.yaml}\nroles:\n " +
			" peer:\n    parts: {sub: {machine: inner.peer}}\n" +
			"    states: {busy: {HELLO: {run: sub.HELLO}}}\n"},
	{Code: "FSM062", Title: "unknown event of a part",
		Text: "`run` gives a part a message, a command, `up` or `lost` of its machine; `forward` gives it " +
			"what is no command.",
		Example: "-- spec.yaml --\nprotocol: demo\nextends: base.yaml\nimport: {inner: base.yaml}\nroles:\n " +
			" peer:\n    parts: {sub: {machine: inner.peer, with: {first: true}}}\n" +
			"    states: {busy: {HELLO: {run: sub.HELO}}}\n"},
	{Code: "FSM063", Title: "cannot be deferred",
		Text: "Only messages can be deferred. A command that is not possible is simply not " +
			"available; timers and parts' events happen when they happen.",
		Example: "roles:\n  peer:\n    states:\n      done: {defer: [go]}\n"},
	{Code: "FSM091", Title: "a part defers", Warning: true,
		Text: "A part gets its events inside a step of its parent, and there nothing can be deferred: " +
			"the step is refused. The parent may defer " +
			"the message, and forward it in those of its states in which the part takes it. Of a role that " +
			"is also an instance of a check nothing is said.",
		Example: "roles:\n  inner: {initial: only, states: {only: {defer: [HELLO]}}}\n  peer:\n    parts: " +
			"{sub: {machine: inner}}\n" +
			"    states: {busy: {forward: {sub: [HELLO]}}}\n"},
	{Code: "FSM105", Title: "lost unheard", Warning: true,
		Text: "A link is lost once, and a state that mentions neither `up` nor `lost` ignores it. From this " +
			"state the machine can come, by a command, a timer or what a part reports, to one that has sent " +
			"something and handles `lost`: there it waits for an answer that nobody will give. Say in the first " +
			"state what the loss means, if only `lost: ignore`. Guards are not looked at. Nothing is said where " +
			"a timer may run in the second state, of a role that is only a part of others, of variants, and " +
			"where checks expect violations.",
		Example: "-- spec.yaml --\nprotocol: demo\nmessages: {JOIN: {}, FULL: {}}\nroles:\n  client:\n" +
			"    commands: {join: {}}\n    initial: away\n    states:\n" +
			"      away:\n        join: {send: JOIN, goto: asking}\n" +
			"      asking: {FULL: {goto: away}, lost: {goto: gone}}\n      gone: {final: true}\n" +
			"  server:\n    initial: up\n    states:\n      up: {JOIN: {send: FULL}}\n"},
	{Code: "FSM064", Title: "role inside itself",
		Text: "A part's machine may be a role of the same file, but no role may run inside itself, " +
			"directly or inside one of its parts.",
		Example: "roles:\n  peer:\n    parts: {sub: {machine: peer, with: {first: true}}}\n    states: " +
			"{busy: {HELLO: {run: sub.HELLO}}}\n"},
	{Code: "FSM065", Title: "to whom?",
		Text: "With more than two instances a message needs a destination: `to: sender`, `to: all` or `to: EXPR`.",
		Example: "checks:\n  pair:\n    instances: {a: \"peer(first: true)\", b: \"peer(first: false)\", c: " +
			"\"peer(first: false)\"}\n"},
	{Code: "FSM066", Title: "case left out", Warning: true,
		Text: "With the values of the example no guard holds, and the event is refused: for a message that " +
			"is an error at run time. All values of the " +
			"variables are tried; whether the machine ever has these ones `fsmgen check` decides. If it " +
			"cannot, a last branch `{refuse: reason}` says so.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {when: total < 3, goto: done}\n"},
	{Code: "FSM067", Title: "branch is never taken", Warning: true,
		Text: "All values of the variables were tried: the guard never holds, or the branches before it " +
			"cover all its cases.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: [{when: total < 5, goto: done}, " +
			"{when: total == 3, goto: idle}, {goto: busy}]\n"},
	{Code: "FSM068", Title: "guards overlap", Warning: true,
		Text: "Every branch has a guard, as if they were to tell cases apart, but with the values of the " +
			"example two of them hold. The earlier branch is " +
			"taken; if that is meant, the last branch needs no guard.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: [{when: total < 5, goto: done}, " +
			"{when: total > 3, goto: idle}]\n"},
	{Code: "FSM069", Title: "can leave its range", Warning: true,
		Text: "With the values of the example the assigned number is outside the variable's range, and the " +
			"step is refused. Whether the machine ever " +
			"has these values `fsmgen check` decides. Guard against it, or bound the value with `min` or `max`.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {set: {total: total + 1}}\n"},
}
