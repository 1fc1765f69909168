package parse

// keyDocs explains each key in one sentence, for the JSON Schema and for editors. A key that means
// something else in one place has an entry `place/key` besides, with the place's name in messages.
var keyDocs = map[string]string{
	"protocol": "The protocol's name: lower-case letters and digits. It becomes the Go package name.",
	"doc":      "A text for readers.",
	"source":   "Where the rules come from.",
	"extends":  "Another file of the same protocol, from which this one differs.",
	"import":   "Other specifications whose machines run as parts: `{name: path}`.",
	"consts":   "Named integers, usable wherever a number is; a check may replace them.",
	"types":    "Named types.",
	"messages": "The messages, their fields and their bytes.",
	"channel":  "What the medium between two parties does.",
	"wire":     "The frame format: byte order, header, largest frame.",
	"tick":     "The length of a tick, such as `50ms`; timers count in ticks.",
	"roles":    "The machines.",
	"checks":   "Configurations of instances, and claims about all their runs.",
	"allow":    "Warnings about what all checks together leave out, each with the reason why it is not given.",
	"FSM092":   "Why some command that sends is never given over an unreliable channel.",
	"FSM093":   "Why some fault that the channel may have is in no check.",
	"FSM094":   "Why some kind of claim is missing.",
	"FSM095":   "Why nobody is hostile in any check.",
	"hostile": "Instances that keep to no role: they send any message at any time. " +
		"`{a: malformed}`: also what is none.",

	"parties": "How many instances take part at most; the range of `instance`.",
	"type":    "The type, in its short form.",
	"enum":    "The names of an enumeration, as a list, or with their codes on the wire.",
	"record":  "The fields of a record: `{name: Type}`.",
	"array":   "The index: one element for each of its values.",
	"map":     "The keys: a value or none for each of them; `of` is the type of the values.",
	"queue":   "The type of a queue's elements; `max` bounds its length.",
	"of":      "The type of an array's elements, or of a map's values.",
	"list":    "The type of a list's elements; `max` bounds its length.",
	"max":     "The greatest number of elements.", "set": "The type of a set's members.",
	"init":                "The value a variable begins with, a constant.",
	"the wire format/max": "The largest frame, in bytes.",

	"id": "The type number in the frame's header.", "fields": "The fields: `{name: Type}`.",
	"a message/wire": "The bytes behind the header, item by item.",

	"as":    "The width: `u8`, `u16`, `u24`, `u32`, `u64`; for texts `nul`, `counted`, `rest`.",
	"order": "The byte order: `big` or `little`.",
	"none":  "The number that stands for an absent value.", "value": "The value.",
	"to":                    "To whom: `sender`, `all`, or an instance's number.",
	"rows":                  "A list has always so many rows; those behind its end are zeros.",
	"row":                   "The items of one element.",
	"since":                 "The item from whose beginning is counted.",
	"cut":                   "Longer texts are cut at the type's bound instead of being an error.",
	"a wire item's form/to": "Zeros up to a multiple of so many bytes.",
	"the channel/order":     "`fifo`: messages arrive in the order sent; `any`: in any order.",
	"lossy":                 "Messages may be lost.", "duplicates": "Messages may arrive more than once.",
	"capacity": "Messages under way in each direction; a send into a full channel is the fault `overflow`.",
	"header":   "The items of every frame's header; `length` and `type` are filled in.",
	"surplus":  "What to do with bytes behind the last item: `skip` or `error`.",

	"params": "Constants of an instance, given when it is created.",
	"vars":   "Variables: `{name: Type}`, or with `init`.",
	"deadline": "What becomes of an armed timer while a saved machine is away: " +
		"remaining (the default): it goes on with what was left; absolute: it has run on.",
	"timers": "Timers: `{name: {ticks: 10}}`; a timer's expiry is an event.",
	"ticks": "How long the timer runs, in ticks; in its declaration also the range of what its starts say: " +
		"`0..800`.",
	"commands":     "What the embedding program may ask for.",
	"reports":      "What the machine tells the embedding program or its parent.",
	"routines":     "Statements with a name: `{name: {fields: {x: Type}, do: […]}}`, for `call`.",
	"call":         "Does what a routine says: `name` or `\"name{field: value}\"`.",
	"parts":        "Machines of imported protocols that run inside this one.",
	"deferred":     "How many deferred messages the role may hold; 8 if it does not say.",
	"initial":      "The state in which the machine begins.",
	"states":       "The control states; each maps events to what is done.",
	"common":       "Handlers for several states at once; a state's own line wins.",
	"machine":      "The part's machine: `import.role`, or a role of this file.",
	"key":          "One instance of the part for each value of these.",
	"with":         "The parameters of the part's machine.",
	"a part/types": "The part's types that are ours: `{Theirs: Ours}`.",
	"a part/send":  "What is sent when the part sends: `{THEIRS: \"OURS{field}\"}`, or `none`.",

	"entry":   "Statements that run after every goto into the state.",
	"final":   "The machine has ended here.",
	"ignore":  "Events that are dropped.",
	"defer":   "Messages that the machine holds until it is in a state that does not defer them.",
	"forward": "Messages that go to a part, fields and keys by name: `{part: [MESSAGE]}`.",
	"in":      "The states this entry is for.", "on": "The handlers.",
	"except":         "The states this entry is not for; else all.",
	"a claim/except": "Events and transitions whose order may matter.",

	"when": "The guard: the branch is taken if this holds.", "goto": "The next state; its `entry` runs.",
	"defensive":       "A defence: against honest instances the branch is never taken.",
	"a statement/set": "Assignments, in order: `{variable: expression}`.",
	"send":            "Sends a message: `NAME` or `\"NAME{field: value}\"`.",
	"report":          "Tells the embedding program, or the parent: `name` or `\"name{field: value}\"`.",
	"run":             "Gives a part an event, at once: `part.EVENT`.",
	"restart":         "Puts a part back to its beginning.",
	"start":           "Arms a timer.", "stop": "Disarms a timer.",
	"if":   "A condition, with `then` and perhaps `else`.",
	"then": "The statements if the condition holds.", "else": "The statements if it does not.",
	"each": "Goes through a list or a type: `{x: list}`, with `do`.", "do": "A list of statements.",
	"close": "Closes the link after what was sent.", "refuse": "Refuses the event, with a reason.",

	"always": "Holds in every configuration.", "sometimes": "Some configuration satisfies this.",
	"agree":      "Where `when` holds, these values are equal.",
	"reachable":  "From everywhere this stays possible.",
	"confluent":  "The order of independent steps does not matter.",
	"eventually": "Every fair run comes to this.",
	"leadsTo":    "Every fair run from `when` comes to this.", "why": "The reason for the claim.",
	"a claim/when": "Where the claim is asked.", "quiescent": "Asked only where all channels are empty.",
	"fair":           "What a run must not neglect: `weak`, `strong` or `messages`.",
	"like":           "Another check, which this one begins with.",
	"instances":      "The machines of the check: `{a: \"role(param: value)\"}`.",
	"a check/consts": "Constants replaced for this check.",
	"domains":        "Types narrowed for this check.",
	"environment":    "When, and how often, the program gives its commands.",
	"a rule/when":    "Where the command may be given.",
	"a rule/fair": "The program gives the command in the end: " +
		"`weak` if it may for ever, `strong` if it may again and again.",
	"or":      "Commands one of which will do as well.",
	"times":   "How often each instance gets the command, or its timer expires.",
	"full":    "What a send into a full channel does: `fault` (the default), `lose` or `wait`.",
	"lines":   "Frames are lines of text that end with `lf`.",
	"charset": "The bytes of a line: `ascii` (32 to 126) or `any`.",
	"line":    "The line: literal text and `{field}`.", "without": "Bytes that the text does not contain.",
	"words":  "What the names of the enumeration are in a line, where they are something else.",
	"kept":   "The variable survives a crash and restart.",
	"within": "A bound in ticks: so many pass at most from `when` on. The check has `time`.",
	"faults": "What may go wrong, and how often.",
	"the list of faults/crash": "How often instances may stop without a word: " +
		"`{c: 1}`, or a number for all together.",
	"the list of faults/restart": "How often crashed instances may begin again: `{c: 1}`, or a number for each.",
	"break":                      "How often one end may take its link for dead.",
	"lose":                       "How many messages are lost.",
	"duplicate":                  "How many messages arrive again.",
	"overtake":                   "How many messages overtake another one.",
	"return":                     "How often a link that was lost may come back.",
	"partition":                  "How often the instances may fall into two sets that do not hear each other.",
	"atomic":                     "Crashes come between steps only, and take nothing with them that was sent.",
	"time":                       "Counts ticks: `{beat: 100, delay: 1}`.",
	"beat": "The length of a beat, in ticks. Without it, the longest of which all timers and bounds " +
		"are multiples.",
	"drift": "How far the rates of clocks may be from the right one: `1%`, `200 ppm`, or for each instance `{a: 1%}`.",
	"delay": "Within how many beats a message arrives.", "claims": "What is claimed.",
	"expect": "What is known to be violated; the check passes if exactly this is.",
	"quiet":  "Where a configuration that has no step but commands is at rest, not dead.",
}

// aliases are shapes that share the descriptions of another one.
var aliases = map[string]string{"a branch": "a statement",
	"what a state does with an event": "a statement"}

// doc returns what a key of s means.
func (s *shape) doc(key string) string {
	for _, what := range []string{s.what, aliases[s.what]} {
		if d := keyDocs[what+"/"+key]; what != "" && d != "" {
			return d
		}
	}
	return keyDocs[key]
}
