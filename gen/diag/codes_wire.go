package diag

// framed gives the base a wire format; examples add a message.
const framed = `wire:
  header: [length: u16, type: u8]
  max: 64
messages:
  HELLO: {id: 1}
  DATA: {id: 2, fields: {n: Count, color: Color}, wire: [n: u8, color: u8]}
`

// wireCodes are about bytes.
var wireCodes = []Info{
	{Code: "FSM070", Title: "wire format is incomplete",
		Text: "With a `wire` section every message needs its `id` (if the header has a `type`) and, if " +
			"it has fields, its `wire`; without one neither means anything.",
		Example: framed + "  NOTE: {fields: {text: text 8}, wire: [text: nul]}\n"},
	{Code: "FSM071", Title: "messages that look alike",
		Text: "The same frame can be two messages, so a receiver cannot tell them apart. Give them ids, constants or " +
			"lengths that differ, or say which role alone sends one: `from: role`.",
		Example: framed + "  NOTE: {id: 2, fields: {text: text 8}, wire: [text: rest]}\n"},
	{Code: "FSM072", Title: "field placed never or twice",
		Text: "A message's wire places each field exactly once, and so does `each` with the fields of " +
			"the list's record. Of a record it places each field: `version.major: u8, version.minor: u8`.",
		Example: framed + "  NOTE: {id: 3, fields: {text: text 8, n: Count}, wire: [text: nul]}\n"},
	{Code: "FSM073", Title: "does not fit",
		Text: "The number of bits cannot hold all values of the field, or the number that stands for " +
			"none is also a value.",
		Example: framed + "  NOTE: {id: 3, fields: {n: 0..300}, wire: [n: u8]}\n"},
	{Code: "FSM074", Title: "length is ambiguous",
		Text: "A receiver could not tell where the list or text ends: lists have a count before them, " +
			"texts a count or a zero byte, and behind what takes the rest comes only what has a size that is " +
			"known before. Rows, addresses, and " +
			"counts behind their rows have fixed places: nothing of varying size comes before.",
		Example: framed + "  NOTE: {id: 3, fields: {text: text 8, more: text 8}, wire: [text: rest, more: nul]}\n"},
	{Code: "FSM075", Title: "message exceeds the frame",
		Text:    "The longest form of the message is longer than `max` under `wire`.",
		Example: framed + "  NOTE: {id: 3, fields: {text: text 80}, wire: [text: nul]}\n"},
	{Code: "FSM076", Title: "wire item not understood",
		Text: "Items are fields, those of records as `record.field`, `pad`, `const`, `align`, `count " +
			"LIST`, `each LIST`, `present ARRAY`, `sized u16`, `if FIELD`, `case TAG`, and in the header `length`, " +
			"`body length`, `rest length`, " +
			"`type`, `sequence` and `checksum`, with widths u8 to u64, i8 to i64, leb128, zigzag, mqtt and " +
			"quic; several fields share the bits of a number in `bits`; an instance may be `address 6`.",
		Example: framed + "  NOTE: {id: 3, fields: {n: Count}, wire: [n: u9]}\n"},
	{Code: "FSM077", Title: "line not understood",
		Text: "In a protocol of lines each message has a `line`: literal text and each field once in " +
			"braces. A reader must be able to tell where a " +
			"field ends, so literal text follows a field, a text does not contain the byte with which that " +
			"begins, and no line is two messages.",
		Example: "wire: {lines: lf, max: 64}\nmessages:\n  HELLO: {line: hello}\n  DATA: {fields: {n: " +
			"Count, color: Color}, line: \"data {n}{color}\"}\n"},
	{Code: "FSM103", Title: "phase that is not clear",
		Text: "With `phases` under `wire` each message says in which of them it may be sent, and some lead to the " +
			"next one: `phase: greeting, next: open`. Each phase can be reached. A phase is what came before in the " +
			"stream, so the channel keeps order, and loses and copies nothing.",
		Example: "wire: {header: [length: u16, type: u8], max: 64, phases: [greeting, open]}\nmessages:\n" +
			"  HELLO: {id: 1, phase: greeting}\n" +
			"  DATA: {id: 1, phase: open, fields: {n: Count, color: Color}, wire: [n: u8, color: u8]}\n"},
	{Code: "FSM104", Title: "message out of its phase",
		Text: "A machine may send this message where its stream is not in the message's phase. The " +
			"states say in which " +
			"phase the stream is, whatever guards say: give each phase states of its own.",
		Example: "wire: {header: [length: u16, type: u8], max: 64, phases: [greeting, open]}\nmessages:\n" +
			"  HELLO: {id: 1, phase: greeting, next: open}\n" +
			"  DATA: {id: 1, phase: open, fields: {n: Count, color: Color}, wire: [n: u8, color: u8]}\n"},
}
