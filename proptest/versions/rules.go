package versions

// Rule is a kind of change between two versions of what is on the wire.
type Rule string

// The rules, as messages name them.
const (
	MessageAdded   Rule = "MESSAGE_ADDED"
	MessageRemoved Rule = "MESSAGE_REMOVED"
	MessageRenamed Rule = "MESSAGE_RENAMED"
	MessageNumber  Rule = "MESSAGE_NUMBER"
	MessageSender  Rule = "MESSAGE_SENDER"
	MessageChannel Rule = "MESSAGE_CHANNEL"
	MessagePhase   Rule = "MESSAGE_PHASE"
	MessageLine    Rule = "MESSAGE_LINE"
	FieldAdded     Rule = "FIELD_ADDED"
	FieldRemoved   Rule = "FIELD_REMOVED"
	FieldRenamed   Rule = "FIELD_RENAMED"
	FieldMoved     Rule = "FIELD_MOVED"
	FieldType      Rule = "FIELD_TYPE"
	FieldBounds    Rule = "FIELD_BOUNDS"
	FieldValues    Rule = "FIELD_VALUES"
	FieldWidth     Rule = "FIELD_WIDTH"
	FieldByteOrder Rule = "FIELD_BYTE_ORDER"
	FieldEncoding  Rule = "FIELD_ENCODING"
	LayoutChanged  Rule = "LAYOUT_CHANGED"
	HeaderChanged  Rule = "HEADER_CHANGED"
	FrameChecksum  Rule = "FRAME_CHECKSUM"
	FrameLength    Rule = "FRAME_LENGTH"
	FrameLimit     Rule = "FRAME_LIMIT"
	Framing        Rule = "FRAMING"
	WireAdded      Rule = "WIRE_ADDED"
	WireRemoved    Rule = "WIRE_REMOVED"
	ChannelAdded   Rule = "CHANNEL_ADDED"
	ChannelRemoved Rule = "CHANNEL_REMOVED"
	ChannelChanged Rule = "CHANNEL_CHANGED"
	NumbersShift   Rule = "UNWIRED_NUMBERS"
)

// Remedies say what to do about a change that is met, by rule.
var remedies = map[Rule]string{
	MessageAdded: "send it only to who has said that it knows it (exchange a version, or a set of features, first)",
	MessageRemoved: "go on receiving it (a handler, or `ignore`) for as long as old programs send it, " +
		"or refuse them by their version",
	MessageNumber:  "keep the number, and give a changed message a new one",
	MessageSender:  "let the old direction go on, or give the other direction a message of its own",
	MessageChannel: "keep the channel, and give a message on another channel a new name and number",
	FieldAdded: "put it into a message of its own, or make it `optional` at the end of the frame " +
		"(`if FIELD: …` reads frames without it)",
	FieldRemoved:   "keep its bytes as padding (`pad`)",
	FieldMoved:     "keep the order of the bytes; the order of `fields` does not matter to them",
	FieldType:      "keep the type, and put the new one into a new field or message",
	FieldBounds:    "keep values inside of the old bounds until no old program is left",
	FieldValues:    "add names at the end, and send them only to who knows them",
	FieldWidth:     "keep the width, and give a wider number a message of its own",
	FieldByteOrder: "keep the byte order",
	FieldEncoding:  "keep the bytes, and give another form a message of its own",
	LayoutChanged:  "keep the bytes that stand between the fields",
	HeaderChanged:  "a header cannot change between versions that meet: tell them apart by port, or by a first frame",
	FrameChecksum: "a checksum cannot change between versions that meet: tell them apart by port, or by a first " +
		"frame",
	FrameLength:    "a length cannot change between versions that meet: tell them apart by port, or by a first frame",
	FrameLimit:     "send no frame longer than the old limit until no old program is left",
	Framing:        "framing cannot change between versions that meet: tell them apart by port, or by a first frame",
	ChannelChanged: "programs of both versions need the weaker channel: check both over it",
	NumbersShift: "declare new messages behind the old ones, or describe the bytes (`wire:`) so that each has a " +
		"number of its own",
}

// Change is one difference of what is on the wire.
type Change struct {
	Rule Rule `json:"rule"`
	// Message is the message it is about; empty if all are.
	Message string `json:"message,omitempty"`
	// Old and New are its places, as file:line:col; empty where it is not there.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Text says what has changed.
	Text string `json:"text"`
	// Tries are what each version makes of frames of the other: at most one of each.
	Tries []Try `json:"tries,omitempty"`
	// Breaks says that a version meets bytes of the other that it cannot read, or reads as something else.
	Breaks bool `json:"breaks"`
	// Apart says why that is not so although a try fails: no mixed pair comes to send such bytes.
	Apart string `json:"apart,omitempty"`
	// Remedy is what to do; empty unless it breaks.
	Remedy string `json:"remedy,omitempty"`
}

// Try is what one version makes of a frame of the other.
type Try struct {
	// Reader is the version that reads: OLD or NEW.
	Reader string `json:"reader"`
	// Sent is the message that the other sends, Frame its bytes in hexadecimal; empty if no bytes are described.
	Sent  string `json:"sent"`
	Frame string `json:"frame,omitempty"`
	// Result is "reads", "misreads" or "refuses".
	Result string `json:"result"`
	// Read is what the reader takes it for, Why why it refuses it, At the offset of the byte where it does.
	Read string `json:"read,omitempty"`
	Why  string `json:"why,omitempty"`
	At   int    `json:"at,omitempty"`
}

// The results of a try.
const (
	Reads    = "reads"
	Misreads = "misreads"
	Refuses  = "refuses"
)
