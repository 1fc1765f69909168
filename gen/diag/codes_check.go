package diag

// What examples of whole specifications have in common.
const (
	twoPeers  = "roles:\n  peer:\n    commands: {go: {}}\n    initial: idle\n    states:\n"
	bothKinds = "    claims:\n      rests: {always: a.idle}\n      comes: {eventually: a.idle}\n"
	hostile   = "  stranger: {like: pair, hostile: b}\n"
)

// checkCodes are about checks.
var checkCodes = []Info{
	{Code: "FSM080", Title: "arguments of an instance",
		Text: "An instance gives each parameter of its role exactly once, as a constant that is in the " +
			"parameter's range, with the constants and domains of the check.",
		Example: "checks:\n  pair:\n    instances: {a: \"peer(first: true)\", b: peer}\n"},
	{Code: "FSM081", Title: "claim not understood",
		Text: "A claim is exactly one of always, sometimes, agree, reachable, confluent, eventually and " +
			"leadsTo, with the keys that go with it.",
		Example: "checks:\n  pair:\n    claims:\n      odd: {always: a.done, fair: strong}\n"},
	{Code: "FSM082", Title: "unknown claim or event",
		Text:    "`expect` names claims of the check or built-in ones; `except` names events or transitions.",
		Example: "checks:\n  pair:\n    expect: [dead-lock]\n"},
	{Code: "FSM083", Title: "domain does not fit",
		Text: "A domain is a narrower range for a range, names for an enumeration, `0..n` for an opaque " +
			"type or a text. A name that it leaves out must " +
			"not be needed by the specification, other than in comparisons.",
		Example: "checks:\n  pair:\n    domains: {Count: 0..20}\n"},
	{Code: "FSM084", Title: "unknown command",
		Text:    "The environment's rules are for commands and timers of roles, as `command` or `role.command`.",
		Example: "checks:\n  pair:\n    environment: {goo: {times: 1}}\n"},
	{Code: "FSM085", Title: "unknown check",
		Text: "The check that was asked for, or that another one is `like`, does not exist; or a check " +
			"is like itself, perhaps by way of others.",
		Example: "channel: {capacity: 4}\n", Check: "pear"},
	{Code: "FSM087", Title: "faults that do not fit",
		Text: "Only who crashes can restart, only links that are lost come back, and only links that somebody " +
			"notices can break. Where messages arrive in any order none overtakes another.",
		Example: "checks:\n  pair:\n    faults: {restart: {a: 1}}\n"},
	{Code: "FSM088", Title: "time that cannot be counted",
		Text: "Time passes in beats. Without `beat` a check takes the longest of which all its timers and bounds " +
			"are multiples; `delay` counts beats, so it needs one. A `drift` is how far the rate of a clock may be " +
			"from the right one: `1%` or `200 ppm`, at most 50%. " +
			"`within` is a bound on a `leadsTo` in a check that has `time`.",
		Example: "checks:\n  pair:\n    claims:\n      soon: {leadsTo: a.done, when: a.idle, within: 100}\n"},
	{Code: "FSM089", Title: "fairness that does not fit",
		Text: "`fair` in a rule of the environment is about a command that the program may give: in the end " +
			"it gives that one, or another one of those under `or`. " +
			"Timers are no commands, and what is never given is not given in the end.",
		Example: "checks:\n  pair:\n    environment: {go: {fair: weak, or: [go]}}\n"},
	{Code: "FSM092", Title: "command not combined with a fault", Warning: true,
		Text: "The channel may lose or reorder messages, and in no check that lets it is this command given " +
			"by an instance of the role, so that what it sends was never lost, or overtaken. Give it in such a " +
			"check, or say under `allow` why that is not needed: `allow: {FSM092: reason}`. " +
			"Nothing is said of specifications whose checks expect violations, or that extend others.",
		Example: "protocol: demo\nmessages: {A: {}}\nchannel: {lossy: true}\n" + twoPeers +
			"      idle: {final: true, go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n    environment: {go: false}\n" +
			bothKinds + hostile},
	{Code: "FSM093", Title: "fault that is in no check", Warning: true,
		Text: "The channel may lose, reorder or copy messages, or a role hears that a link is lost, and no " +
			"check has that fault: what it would lead to was not looked at. Where messages may be lost, as " +
			"datagrams are, a crash and a partition belong to these, whatever the roles hear. Add " +
			"a check with it, or say under " +
			"`allow` why it cannot matter: `allow: {FSM093: reason}`. " +
			"Nothing is said of specifications whose checks expect violations, or that extend others.",
		Example: "protocol: demo\nmessages: {A: {}}\n" + twoPeers +
			"      idle: {go: {send: A}, A: ignore, lost: {goto: done}}\n      done: {final: true, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n" + bothKinds + hostile},
	{Code: "FSM094", Title: "kind of claim that is missing", Warning: true,
		Text: "No check claims safety, what must never happen (`always`, `agree`), or none claims liveness, " +
			"what must come in the end (`eventually`, `leadsTo`); or there is no check at all. " +
			"That something can still be reached " +
			"(`reachable`) does not say that it comes, and a claim that is true by its form, such as " +
			"`a.done => a.done`, " +
			"claims nothing. Add such a claim, or say under `allow` why there " +
			"is none: `allow: {FSM094: reason}`. " +
			"Nothing is said of specifications whose checks expect violations, or that extend others.",
		Example: "protocol: demo\nmessages: {A: {}}\n" + twoPeers +
			"      idle: {final: true, go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n    claims: {rests: {always: a.idle}}\n" + hostile},
	{Code: "FSM095", Title: "nobody is hostile", Warning: true,
		Text: "In no check an instance is `hostile`, so every verdict trusts all peers to keep to their roles. A " +
			"program on a network is sent whatever somebody likes to send. Add a check in which an instance is " +
			"hostile, with claims about the others, or say under `allow` why there is none, for instance where " +
			"another specification has it: `allow: {FSM095: reason}`. " +
			"Nothing is said of specifications whose checks expect violations, or that extend others.",
		Example: "protocol: demo\nmessages: {A: {}}\n" + twoPeers +
			"      idle: {final: true, go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n" + bothKinds},
	{Code: "FSM096", Title: "hostile instance that does not fit",
		Text: "`hostile` names instances of the check that keep to no role. They have no states, no variables and " +
			"nothing that could crash, so claims are about the others, of whom there is at least one.",
		Example: "protocol: demo\nmessages: {A: {}}\n" + twoPeers +
			"      idle: {final: true, go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n    hostile: b\n" +
			"    claims: {rests: {always: b.idle}}\n"},
	{Code: "FSM097", Title: "fault that happens 0 times", Warning: true,
		Text: "What `faults` leaves out of `crash`, `restart`, `break`, `return` and `partition` never happens, so " +
			"0 says nothing. Of `lose`, `duplicate` and `overtake` 0 says something: that what the channel may do " +
			"does not happen in this check.",
		Example: "checks:\n  pair:\n    faults: {crash: 0}\n"},
	{Code: "FSM098", Title: "monitor that would disturb what it watches",
		Text: "A monitor remembers what programs see and do, and machines behave as if there " +
			"were none. So it has no statements but `set`, `if` and `goto`, its variables are single values, none of " +
			"its states is final, and nothing in it can be a fault: numbers stay within their types by themselves, " +
			"optionals are compared and not computed with. One of several instances names these in a list, " +
			"`of: [a, b]`, and `quiet` and claims with `within` cannot look at it.",
		Example: "protocol: demo\nmessages: {A: {}}\n" + twoPeers +
			"      idle: {final: true, go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n    monitors:\n" +
			"      m: {of: peer, initial: on, states: {on: {go: {close: }}}}\n" +
			"    claims: {rests: {always: a.idle && a.m.on}}\n"},
	{Code: "FSM099", Title: "channel that is not there, or not clear",
		Text: "A protocol has one `channel`, or several by name under `channels`; then messages and checks say which " +
			"they mean. Of several, `lose` and `duplicate` bound those that lose or copy by themselves, `overtake` " +
			"means nothing, and a link that may come up again needs all reliable channels but one to be gone.",
		Example: "protocol: demo\nchannels: {control: {order: fifo}, state: {lossy: true}}\n" +
			"messages: {A: {channel: stat}}\n" + twoPeers +
			"      idle: {final: true, go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n" + bothKinds},
	{Code: "FSM100", Title: "parties that cannot come",
		Text: "`come` names instances at which nobody is at first, and says how many parties may come there, one " +
			"after another. The next one comes when the one before has gone, which it does in a final state, or has " +
			"crashed. Hostile instances have no machine that could come.",
		Example: "protocol: demo\nmessages: {A: {}}\n" + twoPeers +
			"      idle: {go: {send: A}, A: ignore}\n" +
			"checks:\n  pair:\n    instances: {a: peer, b: peer}\n    come: {b: 2}\n" + bothKinds},
	{Code: "FSM086", Title: "unknown constant",
		Text:    "The constant to be replaced does not exist.",
		Example: "consts: {most: 3}\ntypes: {Most: 0..most}\n", Const: "must"},
}
