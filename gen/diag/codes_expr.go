package diag

// expressionCodes are about names, types and operators.
var expressionCodes = []Info{
	{Code: "FSM020", Title: "expression not understood",
		Text: "The expression does not follow the grammar. Operators are those of Go, and `=>`; " +
			"comparisons cannot be chained.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {when: total = 3, goto: done}\n"},
	{Code: "FSM021", Title: "unknown name",
		Text:    "There is nothing of this name that could stand here. If a similar name would do, it is suggested.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {when: totl == 3, goto: done}\n"},
	{Code: "FSM022", Title: "name of two enumerations",
		Text: "Two enumerations have this name, and nothing here says which is meant. Write `Type.name`.",
		Example: "types: {Lamp: {enum: [red, amber]}}\nroles:\n  peer:\n    vars: {lamp: Lamp}\n    states:\n" +
			"      busy:\n        HELLO: {when: red == red, set: {lamp: amber}}\n"},
	{Code: "FSM023", Title: "operand of the wrong kind",
		Text: "The operator, function or dot cannot be applied to this. Conditions are booleans, arithmetic " +
			"needs numbers, and opaque values are " +
			"only carried and compared.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {when: first > 3, goto: done}\n"},
	{Code: "FSM024", Title: "wrong type",
		Text: "The value has another type than its place. Ranges may differ (assignment checks them at run " +
			"time), but lists must have the same bound, " +
			"and `none` needs a place that is optional.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {set: {total: first}}\n"},
	{Code: "FSM025", Title: "not constant",
		Text: "A value that is fixed before the machine runs may depend on constants and (for the " +
			"arguments of parts) on parameters, but not on variables or states.",
		Example: "types: {Odd: 0..red}\n"},
	{Code: "FSM026", Title: "wrong call",
		Text: "There is no such function, it takes another number of arguments, or it cannot be used here: " +
			"channels can be looked at only in claims " +
			"and in the environment's rules.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {set: {total: min(total)}}\n"},
	{Code: "FSM027", Title: "fields of a literal",
		Text:    "A literal of a message, report or record gives every field exactly once. `{n}` stands for `{n: n}`.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {send: \"DATA{n: 1}\"}\n"},
	{Code: "FSM029", Title: "never within the range",
		Text: "Every value that the expression can have is outside the place's range, so the step would " +
			"always fault; or a list or text is longer than " +
			"its place.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {set: {total: 12}}\n"},
	{Code: "FSM030", Title: "cannot be assigned to",
		Text: "Only variables, and fields and elements of them, can be set. Parameters, fields of the " +
			"event and loop variables keep their value; states change by `goto`, timers by `start` and `stop`.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {set: {first: true}}\n"},
	{Code: "FSM031", Title: "number too large",
		Text: "The result of this operation can exceed 1<<61. Narrow the ranges of the operands.",
		Example: "roles:\n  peer:\n    vars: {big: u32}\n    states:\n      busy:\n        HELLO: {when: " +
			"big * big * big == 8, set: {big: 2}}\n"},
	{Code: "FSM101", Title: "name that could be a field's", Warning: true,
		Text: "A field of the event has the name of a value of the role. The name alone means that value, and " +
			"`msg.NAME` the field. Where a branch uses the name alone and never reaches the field, the " +
			"field may be meant.",
		Example: "roles:\n  peer:\n    vars: {n: Count}\n"},
	{Code: "FSM057", Title: "condition is constant", Warning: true,
		Text: "The condition has the same value always, so it decides nothing. Conditions that depend on " +
			"a named constant are not meant by this: a check may replace the constant.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {when: 1 + 1 == 3, goto: done}\n"},
	{Code: "FSM058", Title: "comparison is decided", Warning: true,
		Text:    "The ranges of the two sides make the comparison true always or never. Perhaps a bound is off by one.",
		Example: "roles:\n  peer:\n    states:\n      busy:\n        HELLO: {when: total > 9, goto: done}\n"},
}
