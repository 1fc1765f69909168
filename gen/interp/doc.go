// Package interp is the meaning of a checked specification: it runs machines
// on slots, renders and reads their texts, and encodes and decodes their
// frames. Generated code, live runs and exports are compared with it, never
// the other way round, so it is written to be read beside docs/LANGUAGE.md and
// not to be fast. It must not know the checker, a clock, a link or YAML. Start
// from [New].
//
// # One step
//
// The points that docs/LANGUAGE.md leaves to the reader's sense are these.
//
//   - Result.Transition is the outermost branch that was taken, also when one
//     of its statements faulted or refused. It is NoTransition when no branch
//     was taken: the state does not mention the event, no guard held, or a
//     guard faulted.
//   - Ignored and Deferred name the branch of the ignore or defer line. The
//     expiry of a timer that is not armed, and up and lost where they are not
//     mentioned, are Ignored with NoTransition. start where it is not mentioned
//     is Took with NoTransition.
//   - On start the entry of the initial state runs after the handler's
//     statements; if the handler has a goto the entry of its target runs
//     instead (as after every goto), not both.
//   - The expiry of an armed timer disarms it before the guards are looked at.
//     If the expiry is ignored or deferred the machine is unchanged: the timer
//     still counts as armed.
//   - Entering a final state queues part.finished at the goto, before the
//     entry of that state runs; so it comes before what the entry reports.
//   - An event given to a part by run that the part defers, and an event of a
//     part that its parent defers, refuse the step: nobody could deliver them
//     again. If the part ignores what run gives it, the statement has no effect.
//   - A message of a part goes through the parent's mapping. The destination is
//     the mapping's, unless the mapping names none; then it is the part's.
//   - Ranges are checked where a value is stored: in a variable, in a field of
//     a message, report, record or event, in a list or set. Comparing, and
//     contains and without, never fault for a range.
//   - Arithmetic that leaves 64 bits faults. all and some stop at the first
//     element that decides.
//   - A step faults when it queues more than [MaxQueued] events of parts or
//     goes round loops more than [MaxRounds] times.
//
// # Texts
//
// Texts are written in one way and read by the same grammar; spaces between
// tokens are optional when read.
//
//	event   = name [ fields ]                  CHANGE{value: 2}   fleet.changed{own: true, slot: 3}
//	message = name [ fields ]                  FLEET{own: true, entries: [{slot: 3, ship: orz}]}
//	fields  = "{" field { ", " field } "}"     all fields, in declared order; no braces if there are none;
//	field   = name ": " value                  keys of a part's event come first
//	value   = "true" | "false"                 bool
//	        | number                           range, instance, opaque: decimal (opaque without sign)
//	        | name                             enumeration
//	        | quoted                           text, as by strconv.Quote
//	        | "none" | value                   optional
//	        | "[" value { ", " value } "]"     list; array in the order of its index; set in ascending order
//	        | fields                           record
//	effect  = "send " message [ to ] | "report " event | "start " timer | "stop " timer | "close" [ to ]
//	to      = " to all" | " to " number        only if the statement named a destination
//	timer   = { part "." } name [ keys ] [ " for " number ]   how long: only where a start says it
//	part    = name [ keys ]                    keys = "[" value { ", " value } "]"
//	machine = state [ "{" member { ", " member } "}" ]
//	member  = name ": " value                  parameters, variables, timers (true: armed; keyed: a list), then parts
//	        | name ": " machine | name ": [" machine { ", " machine } "]"   keyed: last key fastest
//
// # Frames
//
// Errors of the codecs are compared exactly with those of generated code.
// [DecodeFrame] looks at a frame in this order; the first error is returned.
// Total is the length the header gives, or that of the frame if the header
// has no length.
//
//	frame shorter than the header       Short{Offset: 0, Value: its length, Limit: header length}
//	header items in order: constant     Mismatch{Offset: of the item, Value, Limit: expected}
//	no message has the type             UnknownType{Offset: of the type, Value: type}
//	total below the message's least     Short{Message, Offset: of the length, Value: total, Limit: least}
//	total above the protocol's largest  Long{Message, Offset: of the length, Value: total, Limit: largest}
//	frame shorter than total            Short{Message, Offset: 0, Value: its length, Limit: total}
//	frame longer than total             Trailing{Message, Offset: total, Value: bytes too many}
//	items of the body in order:
//	  not enough bytes                  Short{Message, Field, Offset: of the item, Value: total,
//	                                    Limit: what is needed}
//	  number outside its type           Range{Message, Field, Offset, Value, Limit: the bound it is beyond}
//	  code no name has                  Range{…, Limit: greatest code}
//	  constant                          Mismatch{Message, Offset, Value, Limit}
//	  byte of a constant text           Byte{Message, Offset: of the byte, Value, Limit}
//	  checksum                          BadSum{Message, Field: checksum, Offset, Value, Limit: that of the bytes}
//	  CR or LF before a text's end      Charset{Message, Field, Offset: of the byte, Value: the byte}
//	  number in digits that is none     NoDigits{Message, Field, Offset}
//	  count of a list above its bound   Count{Message, Field, Offset: of the count, Value, Limit: bound}
//	  text nul longer than its bound    Unterminated{Message, Field, Offset: of the text, Value: bytes, Limit: bound}
//	  other text longer than its bound  Count{Message, Field, Offset: of the text, Value: bytes, Limit: bound}
//	bytes after the last item           Trailing{Message, Offset: of the first, Value: how many} (surplus: error)
//
// The offset of the length is 0 if the header has none. The least length counts every
// integer, pad and constant, the aligning between them with empty lists and
// texts, and no aligning at the end. Field is the message's field, or
// `list.field` inside an each; empty for pad, constant and header. Numbers on
// the wire are unsigned, and an error of a region names the first field in it; Value and Limit hold the
// bits of a u64 as int64.
// [FrameSize] makes the checks of the header up to Long, in the same order.
//
// [AppendFrame] reports, in the order of the items: a number that does not fit
// its width, Range{Message, Field, Offset, Value, Limit: largest, or 0 for a
// negative one}; a count that does not fit, Count{…, Limit: largest}; a text nul that contains a
// zero byte or is too long without cut, Unterminated{…, Value: bytes, Limit: bound}; another text too
// long, Count. Then Long{Message, Offset: 0, Value: total, Limit: largest}; then a
// length that does not fit its width, Range{Message, Offset: of the length, Value, Limit}.
//
// # Lines
//
// In a protocol of lines a frame is a line with its LF:
//
//	no LF within the largest length     Long{Offset: 0, Value: bytes there are, Limit: largest}
//	no LF yet                           Short{Offset: 0, Value: its length, Limit: one more}
//	bytes after the LF                  Trailing{Offset: of the first, Value: how many}
//	a CR (but one before the LF), or a
//	byte that is not of the charset     Text{Offset, Value: the byte}
//	no template matches                 Text{Offset: 0, Value: length without the line's end}
//
// [AppendFrame] reports a byte that the text of a field must not contain, Text{Message, Field,
// Offset: of the byte, Value: the byte}; a line too long, Long; and a text that is the whole line
// and would be read as another message, Text{Message, Field, Offset: 0, Value: that message's
// index}.
package interp
