package diag

// declarationCodes are about declarations.
var declarationCodes = []Info{
	{Code: "FSM032", Title: "begins at the low bound", Warning: true,
		Text: "Without `init` a variable begins with its type's zero, and that of a range is its low bound: " +
			"of `-48..48` it is -48. For ranges that contain 0 and begin " +
			"below it, also those of a record's fields and an array's elements, say what is meant.",
		Example: "roles:\n  peer:\n    vars: {sum: -48..48}\n    states:\n      busy:\n        HELLO: " +
			"{when: sum < 48, set: {sum: sum + 1}}\n        DATA: {goto: done}\n"},
	{Code: "FSM040", Title: "name is taken",
		Text: "A role has three sets of names: events (messages, commands, timers, start, up, lost), values " +
			"(params, vars, timers, parts, states) and " +
			"reports. Within each all names differ. A field of an event may have the name of a value of a role that " +
			"handles the event, but for `self` and `parties`: then `msg.value` is the field, and `value` that of the " +
			"role.",
		Example: "roles:\n  peer:\n    vars: {idle: bool}\n"},
	{Code: "FSM041", Title: "not a type",
		Text:    "The type is incomplete, empty or contradicts itself.",
		Example: "types: {Never: 3..1}\n"},
	{Code: "FSM042", Title: "too large",
		Text: "Everything is bounded: a value has at most 65536 numbers, a set 62 possible values, a " +
			"machine 1048576 numbers, a part 4096 instances, " +
			"a loop 4096 rounds, a check 62 instances.",
		Example: "types: {Wide: {set: 0..100}}\n"},
	{Code: "FSM043", Title: "contains itself",
		Text:    "A type or constant is defined by itself, perhaps by way of others.",
		Example: "types: {Tree: {record: {left: \"Tree?\"}}}\n"},
	{Code: "FSM044", Title: "needs a name",
		Text: "Enumerations and records are declared under `types`; generated code and messages need a " +
			"name for them.",
		Example: "roles:\n  peer:\n    vars: {mode: {enum: [slow, fast]}}\n"},
	{Code: "FSM045", Title: "not used", Warning: true,
		Text:    "Nothing uses this declaration: no role, no check.",
		Example: "types: {Spare: 0..3}\n"},
	{Code: "FSM046", Title: "variable without purpose", Warning: true,
		Text: "The variable is set and never looked at, or looked at and never set. A variable nobody " +
			"reads only multiplies the configurations that a check must visit.",
		Example: "roles:\n  peer:\n    vars: {idleTime: Count}\n    states:\n      busy:\n        HELLO: " +
			"{set: {idleTime: 3}}\n"},
	{Code: "FSM047", Title: "timer runs on", Warning: true,
		Text: "The timer can be running in a state that says nothing about its expiry, which is then " +
			"refused and gone. Stop the timer on the way, or " +
			"say in the state what its expiry means, if only `ignore`. Guards are not looked at.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        DATA: {set: {total: n, seen: color}, " +
			"report: \"got{n: total}\", goto: done}\n"},
	{Code: "FSM048", Title: "never sent", Warning: true,
		Text:    "States do something with the message, but no role sends it, and no part does.",
		Example: "messages: {BYE: {}}\nroles:\n  peer:\n    states:\n      busy:\n        BYE: {goto: done}\n"},
	{Code: "FSM049", Title: "timer used wrongly",
		Text: "A timer that has keys is named with all of them, except in a `stop` that is for all its " +
			"instances. `start` says `ticks` if the timer is declared " +
			"with a range, and only then.",
		Example: "tick: 1ms\nroles:\n  peer:\n    timers: {slow: {ticks: 0..800}}\n    states:\n      busy:\n" +
			"        HELLO: {start: slow}\n        slow: ignore\n"},
}
