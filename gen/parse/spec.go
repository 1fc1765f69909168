package parse

import "slices"

// The shapes of all places in a specification. docs/LANGUAGE.md explains them; they
// refer to each other, so the table is filled by init.

func text(what string) *shape { return &shape{what: what, scalar: anyScalar} }

func named(what string, open *shape) *shape { return &shape{what: what, open: open, merge: true} }

// sampled is named for what cannot be left out: a list of names is told as a map with such values.
func sampled(what, value string, open *shape) *shape {
	s := named(what, open)
	s.sample = value
	return s
}

var (
	docShape  = text("a text")
	exprShape = &shape{what: "an expression", scalar: anyScalar}
	oneEffect = &shape{what: "an expression", scalar: anyScalar,
		listHint: "several go into `do`, one after the other: do: [{send: A}, {send: B}]"}
	eventNames = &shape{what: "the names of events",
		list: &shape{what: "an event", scalar: anyScalar}, scalar: anyScalar}
	nameList = &shape{what: "names", list: &shape{what: "a name", scalar: anyScalar}, scalar: anyScalar}

	specShape, roleShape, stateShape, typeShape, branchShape, stmtShape, oneCheck shape

	handlerShape = shape{what: "what a state does with an event"}
	stmtsShape   = shape{what: "a list of statements", list: &stmtShape}
	wireItems    = &shape{what: "a list of wire items", null: true, list: &shape{
		what: "a wire item", oneOnly: true, name: freeKeys, open: &wireItem}}
	wireItem = shape{what: "a wire item's form", scalar: anyScalar}
	fields   = &shape{what: "fields", null: true, open: &typeShape, sample: "TYPE"}
)

func init() {
	valueShape.list = valueShape
	typeShape = shape{what: "a type", scalar: anyScalar, keys: []key{
		{"type", &typeShape}, {"doc", docShape}, {"enum", &shape{what: "the names of an enumeration",
			list: &shape{what: "a name", scalar: nameScalar},
			open: &shape{what: "a code", scalar: anyScalar}}},
		{"record", fields}, {"array", &typeShape}, {"map", &typeShape}, {"of", &typeShape},
		{"list", &typeShape}, {"queue", &typeShape},
		{"max", exprShape}, {"set", &typeShape}, {"init", valueShape},
		{"kept", &shape{what: "kept", scalar: boolScalar}}, {"without", text("bytes")},
		{"charset", &shape{what: "the charset of a text", scalar: oneOf("utf8", "ascii", "printable")}},
		{"words", &shape{what: "the words of an enumeration in a line", open: text("a word")}},
	}}
	wireItem.list = wireItems.list
	wireItem.keys = []key{
		{"as", text("a width")}, {"order", &shape{what: "a byte order", scalar: oneOf("big", "little")}},
		{"none", exprShape}, {"value", exprShape}, {"to", exprShape}, {"since", text("an item")},
		{"end", text("the bytes that end it")},
		{"until", &shape{what: "the number that ends a list", scalar: anyScalar, keys: []key{{"as", text("a width")},
			{"text", text("bytes")}, {"hex", text("bytes")},
			{"value", exprShape}, {"order", &shape{what: "a byte order", scalar: oneOf("big", "little")}}}}},
		{"cut", &shape{what: "cut", scalar: boolScalar}},
		{"rows", exprShape}, {"row", &shape{what: wireItems.what, null: true, list: wireItems.list,
			textHint: "write `[item: TEXT]`"}}, {"named", wireItems},
		{"run", exprShape}, {"compressed", &shape{what: "names that point back", scalar: oneOf("accept", "error")}},
		{"xor", &shape{what: "what a number is XORed with", scalar: anyScalar, keys: []key{{"at", exprShape}}}},
		{"overlong", &shape{what: "numbers that are longer than they have to be", scalar: oneOf("accept", "error")}},
		{"nonzero", &shape{what: "a bool that is neither 0 nor 1", scalar: oneOf("accept", "error")}},
		{"text", text("bytes")}, {"hex", text("bytes")}, {"high", wireItems}, {"low", wireItems},
	}
	initStatements()
	initRole()
	initChecks()
	wire := &shape{what: "the wire format", keys: []key{
		{"order", &shape{what: "a byte order", scalar: oneOf("big", "little")}},
		{"lines", &shape{what: "the end of a line", scalar: oneOf("lf", "crlf", "crlf or lf")}},
		{"charset", &shape{what: "the bytes of a line", scalar: oneOf("ascii", "any")}},
		{"header", wireItems}, {"max", exprShape}, {"doc", docShape},
		{"selfDelimiting", &shape{what: "selfDelimiting", scalar: boolScalar}},
		{"phases", &shape{what: "the phases of a stream", list: &shape{what: "a phase", scalar: nameScalar}}},
		{"surplus", &shape{what: "surplus", scalar: oneOf("skip", "error")}}}}
	channel := &shape{what: "the channel", keys: []key{
		{"order", &shape{what: "the order", scalar: oneOf("fifo", "any")}},
		{"lossy", &shape{what: "lossy", scalar: boolScalar}},
		{"duplicates", &shape{what: "duplicates", scalar: boolScalar}},
		{"capacity", exprShape}, {"full", &shape{what: "what a full channel does",
			scalar: oneOf("fault", "lose", "wait")}}, {"doc", docShape},
	}}
	channels := named("channels", channel)
	own := *channel
	own.keys = append(slices.Clone(channel.keys), key{"wire", wire})
	imports := named("imports", text("a path"))
	imports.textHint = "each has a name: {name: TEXT}"
	specShape = shape{what: "a specification", merge: true, keys: []key{
		{"protocol", &shape{what: "the protocol's name", scalar: protocolName}},
		{"doc", docShape}, {"source", docShape},
		{"extends", text("the file to extend")},
		{"import", imports},
		{"consts", named("constants", &shape{what: "a constant", scalar: anyScalar,
			keys: []key{{"value", exprShape}, {"doc", docShape}}})},
		{"types", &shape{what: "types", open: &typeShape, name: typeNames, merge: true}},
		{"messages", named("messages", &shape{what: "a message", null: true, keys: []key{
			{"doc", docShape}, {"id", exprShape}, {"from", text("a role")}, {"fields", fields}, {"wire", wireItems},
			{"phase", &shape{what: "phases", list: text("a phase"), scalar: anyScalar}}, {"next", text("a phase")},
			{"channel", text("a channel")},
			{"line", text("a line")}, {"header", &shape{what: "numbers in the header", open: exprShape}}}})},
		{"channel", channel},
		{"channels", named("channels", &own)},
		{"wire", wire},
		{"parties", &shape{what: "how many instances take part", scalar: anyScalar,
			listHint: "it is a number: `parties: 2`; a check names them under `instances`"}},
		{"tick", &shape{what: "the length of a tick", scalar: duration}},
		{"roles", named("roles", &roleShape)},
		{"allow", &shape{what: "the allowed warnings", merge: true,
			keys: []key{{"FSM092", docShape}, {"FSM093", docShape}, {"FSM094", docShape}, {"FSM095", docShape}}}},
		{"checks", &shape{what: "checks", open: &oneCheck, name: dashedNames, merge: true}},
	}}
	for i, k := range oneCheck.keys {
		switch k.name {
		case "channel":
			oneCheck.keys[i].s = channel
		case "channels":
			oneCheck.keys[i].s = channels
		}
	}
}

// valueShape is an expression that may be written as a YAML list.
var valueShape = &shape{what: "a value", scalar: anyScalar}

func initStatements() {
	stmtKeys := []key{
		{"set", &shape{what: "assignments", open: valueShape, name: freeKeys}},
		{"send", oneEffect}, {"to", exprShape}, {"report", oneEffect}, {"call", oneEffect},
		{"run", oneEffect}, {"restart", exprShape},
		{"start", text("a timer")}, {"ticks", exprShape}, {"stop", text("a timer")},
		{"if", exprShape}, {"then", &stmtsShape}, {"else", &stmtsShape},
		{"each", &shape{what: "what to go through", open: exprShape, oneOnly: true}}, {"do", &stmtsShape},
		{"close", &shape{what: "close", null: true,
			hint: "write `close:` and, for one peer of several, `to: EXPR` beside it"}}, {"refuse", text("a reason")},
		{"doc", docShape},
	}
	stmtShape = shape{what: "a statement", keys: stmtKeys}
	branchShape = shape{what: "a branch", keys: append([]key{{"when", exprShape},
		{"goto", text("a state")}, {"resume", text("a state")},
		{"defensive", &shape{what: "defensive", scalar: boolScalar}}}, stmtKeys...)}
	handlerShape.keys = branchShape.keys
	handlerShape.list = &branchShape
	handlerShape.scalar = fixed("must be a branch, a list of branches, ignore or defer", "ignore",
		"defer")
}

func initRole() {
	forward := &shape{what: "what is forwarded", open: eventNames, name: freeKeys}
	done := func(key, when string) *shape {
		return &shape{what: "what is done when a state is " + when, list: &stmtShape, listHint: "write a list, as `" +
			key + ": [send: A]`; `" + key + "` is a key of every state, so an event needs another name"}
	}
	stateShape = shape{what: "a state", merge: true, null: true, name: eventKeys,
		open: &handlerShape, keys: []key{
			{"doc", docShape}, {"entry", done("entry", "entered")}, {"exit", done("exit", "left")},
			{"final", &shape{what: "final", scalar: boolScalar}},
			{"initial", text("a state")}, {"states", named("states", &stateShape)},
			{"ignore", eventNames}, {"defer", eventNames}, {"forward", forward},
		}}
	withFields := func(what string) *shape {
		return named(what+"s", &shape{what: "a " + what, null: true,
			keys: []key{{"doc", docShape}, {"fields", fields}}})
	}
	common := &shape{what: "a common entry", keys: []key{
		{"in", nameList}, {"except", nameList}, {"doc", docShape},
		{"on", &shape{what: "handlers", open: &handlerShape, name: eventKeys}},
		{"ignore", eventNames}, {"defer", eventNames}, {"forward", forward},
	}}
	roleShape = shape{what: "a role", merge: true, keys: []key{
		{"doc", docShape}, {"params", sampled("parameters", "TYPE", &typeShape)},
		{"vars", sampled("variables", "TYPE", &typeShape)},
		{"timers", sampled("timers", "{ticks: 10}", &shape{what: "a timer", keys: []key{
			{"ticks", exprShape}, {"key", &shape{what: "keys", open: &typeShape}}, {"doc", docShape},
			{"deadline", &shape{what: "a deadline",
				scalar: fixed("must be remaining or absolute", "remaining", "absolute")}}}})},
		{"commands", withFields("command")}, {"reports", withFields("report")},
		{"parts", named("parts", &shape{what: "a part", keys: []key{
			{"machine", text("import.role")}, {"doc", docShape}, {"to", exprShape},
			{"key", &shape{what: "keys", open: &typeShape}},
			{"types", &shape{what: "types", open: &typeShape}},
			{"with", &shape{what: "arguments", open: valueShape}},
			{"send", &shape{what: "what is sent", open: exprShape}}}})},
		{"routines", named("routines", &shape{what: "a routine",
			keys: []key{{"doc", docShape}, {"fields", fields}, {"do", &stmtsShape}}})},
		{"deferred", exprShape},
		{"external", &shape{what: "external", scalar: boolScalar}},
		{"initial", text("a state")},
		{"states", named("states", &stateShape)},
		{"common", &shape{what: "common handlers", list: common}},
	}}
}

func initChecks() {
	fairness := &shape{what: "fairness", scalar: oneOf("weak", "strong")}
	fairRuns := &shape{what: "fairness", scalar: oneOf("weak", "strong", "messages")}
	claim := &shape{what: "a claim", keys: []key{
		{"always", exprShape}, {"sometimes", exprShape}, {"agree", valueShape}, {"reachable", exprShape},
		{"confluent", &shape{what: "confluent", scalar: oneOf("all")}},
		{"eventually", exprShape}, {"leadsTo", exprShape},
		{"when", exprShape}, {"why", docShape}, {"except", nameList},
		{"quiescent", &shape{what: "quiescent", scalar: boolScalar}},
		{"fair", fairRuns}, {"within", exprShape},
	}}
	var monitorKeys []key
	for _, k := range roleShape.keys {
		if slices.Contains([]string{"doc", "vars", "initial", "states", "common"}, k.name) {
			monitorKeys = append(monitorKeys, k)
		}
	}
	watched := &shape{what: "what a monitor watches", scalar: anyScalar, list: text("an instance")}
	times := &shape{what: "how often", scalar: anyScalar, open: exprShape, name: freeKeys, sample: "1"}
	often := &shape{what: "how often in all, whoever it meets", scalar: anyScalar}
	oneCheck = shape{what: "a check", merge: true, keys: []key{
		{"like", text("a check")}, {"doc", docShape},
		{"instances", &shape{what: "instances", open: text("a role"), name: instanceKeys, sample: "ROLE"}},
		{"hostile", &shape{what: "who is hostile", scalar: anyScalar, list: exprShape, name: freeKeys,
			open: &shape{what: "what a hostile instance sends", scalar: oneOf("malformed", "wellformed")}}},
		{"come", &shape{what: "who comes", scalar: anyScalar, open: exprShape, name: freeKeys, sample: "1"}},
		{"channel", nil}, {"channels", nil},
		{"consts", named("constants", exprShape)},
		{"domains", named("domains", valueShape)},
		{"environment", &shape{what: "the environment", merge: true, name: ruleKeys,
			open: &shape{what: "a rule", scalar: fixed("must be false, or a map: {times: 2}, {when: …}", "false"),
				keys: []key{{"when", exprShape}, {"times", exprShape}, {"fair", fairness},
					{"or", nameList}, {"doc", docShape}}}}},
		{"monitors", named("monitors", &shape{what: "a monitor", merge: true,
			keys: append([]key{{"of", watched}}, monitorKeys...)})},
		{"claims", &shape{what: "claims", open: claim, name: dashedNames, merge: true}},
		{"faults", &shape{what: "what may go wrong", null: true, sample: "1",
			textHint: "say how often: `faults: {TEXT: 1}`", keys: []key{
				{"crash", times}, {"restart", times}, {"break", often}, {"lose", often},
				{"duplicate", often}, {"overtake", often}, {"return", often},
				{"partition", often},
				{"bridge", &shape{what: "whom no partition cuts off", scalar: anyScalar, list: exprShape}},
				{"atomic", &shape{what: "atomic", scalar: boolScalar}}, {"doc", docShape}}}},
		{"time", &shape{what: "the time", keys: []key{{"beat", exprShape}, {"delay", exprShape},
			{"drift", &shape{what: "the drift", scalar: anyScalar, name: freeKeys,
				open: &shape{what: "a drift", scalar: anyScalar}}},
			{"doc", docShape}}}},
		{"expect", nameList}, {"quiet", exprShape},
	}}
}
