package diag

// textCodes are about files, YAML, and keys in their places.
var textCodes = []Info{
	{Code: "FSM001", Title: "file cannot be read",
		Text: "The file itself, or one that it extends or imports, is missing or cannot be read. Paths in a " +
			"file start from that file's folder. " +
			"A specification may consist of at most 64 files.",
		Example: "import: {other: no/such.yaml}\n"},
	{Code: "FSM002", Title: "unreadable text",
		Text: "Specifications are UTF-8 text of at most 1 MB whose lines end in \\n or \\r\\n, without byte " +
			"order mark and control characters. " +
			"Only so can lines and columns be stated without doubt.",
		Example: "protocol: demo # \x01\n"},
	{Code: "FSM003", Title: "not YAML",
		Text: "The text is not one YAML document. The usual reason is a text inside braces that contains " +
			"`{`, `}`, `[`, `]`, a comma or a colon with " +
			"a space: such texts must be quoted.",
		Example: "protocol: demo\nmessages: {A: {send: B{x}}}\n"},
	{Code: "FSM004", Title: "nested too deeply",
		Text: "Maps and lists may be nested 64 levels deep.",
		Example: "protocol: demo\ndoc: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n" +
			"  ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"},
	{Code: "FSM005", Title: "anchor, alias or tag",
		Text: "YAML's anchors, aliases and tags are not part of the language. What several states have in " +
			"common goes under `common`, what several " +
			"files have in common is extended or imported.",
		Example: "types: {Slot: &slot 0..3}\n"},
	{Code: "FSM006", Title: "key twice",
		Text: "A map has the same key twice. Two handlers for one event in one state are one key with a " +
			"list of branches.",
		Example: "roles:\n  peer:\n    states:\n      idle:\n        HELLO: {goto: busy}\n        HELLO: " +
			"{goto: done}\n"},
	{Code: "FSM007", Title: "unknown key",
		Text: "The key means nothing at this place. The message names the nearest key, or the place " +
			"where the key would be right.",
		Example: "messages:\n  PING: {feilds: {n: Count}}\n"},
	{Code: "FSM008", Title: "wrong form",
		Text: "A list stands where a map is needed, a single value where a list is needed, nothing where " +
			"something is needed, and so on.",
		Example: "roles:\n  peer:\n    states:\n      busy: {entry: {send: HELLO}}\n"},
	{Code: "FSM009", Title: "something is missing",
		Text: "A key that must be there is not: the protocol's name, a role's states and its `initial`, " +
			"the bound of a list, the ticks of a timer, and so on.",
		Example: "types: {Many: {list: Count}}\n"},
	{Code: "FSM010", Title: "not a name",
		Text: "Names are letters, digits and `_`, start with a letter and have at most 64 characters; names " +
			"of checks and claims may also have `-`. " +
			"Words of the language, such as `none` or `in`, are no names.",
		Example: "types: {2nd: 0..3}\n"},
	{Code: "FSM011", Title: "name is taken by the language",
		Text: "`doc`, `entry`, `exit`, `final`, `initial`, `states`, `ignore`, `defer` and `forward` " +
			"are keys of every state and cannot " +
			"be events; `finished` cannot be a report; the " +
			"names of built-in claims cannot be claims.",
		Example: "roles:\n  peer:\n    commands: {entry: {}}\n"},
	{Code: "FSM012", Title: "nothing to remove",
		Text: "In a file that extends another a written-out `null` removes what stands there. Here " +
			"nothing does; perhaps the name is misspelt.",
		Example: "messages: {HELO: null}\n"},
	{Code: "FSM013", Title: "circle of files",
		Text: "A file extends or imports itself, perhaps by way of others.",
		Example: "-- spec.yaml --\nprotocol: demo\nextends: more.yaml\n" +
			"-- more.yaml --\nprotocol: demo\nextends: spec.yaml\n"},
	{Code: "FSM014", Title: "value out of bounds",
		Text:    "A setting has a value that it cannot have.",
		Example: "channel: {capacity: 0}\n"},
	{Code: "FSM090", Title: "import does not work with these types",
		Text: "A part's machine is compiled anew with the types that the part gives it under `types`. By " +
			"itself the import is right, but not with these: " +
			"for example, it computes with a type that has become an enumeration.",
		Example: "-- spec.yaml --\nprotocol: demo\nextends: base.yaml\nimport: {counter: counter.yaml}\n" +
			"roles:\n  peer:\n    parts:\n" +
			"      c: {machine: counter.counter, types: {N: Color}}\n" +
			"-- counter.yaml --\nprotocol: counter\ntypes: {N: 0..9}\nroles:\n  counter:\n    vars: {n: N}\n" +
			"    commands: {up1: {}}\n    initial: only\n" +
			"    states: {only: {up1: {when: n < 9, set: {n: n + 1}}}}\n"},
}
