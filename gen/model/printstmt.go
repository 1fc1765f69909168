package model

import (
	"fmt"
	"strings"
)

// author prints in the author's words.
var author = printer{author: true}

// StmtString writes s on one line, as in a specification but without quotes:
// `send: UPDATE{value}`.
func StmtString(s Stmt) string {
	switch s := s.(type) {
	case *Set:
		return "set: {" + PlaceString(s, len(s.Select)) + ": " + ExprString(s.Value) + "}"
	case *Send:
		return "send: " + SendString(s)
	case *ReportStmt:
		return "report: " + ReportString(s)
	case *Run:
		return "run: " + RunString(s)
	case *Restart:
		return "restart: " + author.part(s.Part, s.Keys)
	case *StartTimer:
		if s.Ticks != nil {
			return "start: " + TimerString(s) + ", ticks: " + ExprString(s.Ticks)
		}
		return "start: " + TimerString(s)
	case *StopTimer:
		return "stop: " + TimerString(s)
	case *If:
		text := "if: " + ExprString(s.Cond) + ", then: [" + StmtsString(s.Then) + "]"
		if len(s.Else) > 0 {
			text += ", else: [" + StmtsString(s.Else) + "]"
		}
		return text
	case *Each:
		if s.As != nil {
			return StmtString(s.As)
		}
		return "each: {" + s.Local.Name + ": " + author.over(s.Values, s.Over) + "}, do: [" + StmtsString(s.Body) + "]"
	case *Close:
		return "close:" + printDest(s.Dest, s.To, " ")
	case *Refuse:
		return "refuse: " + s.Reason
	}
	return fmt.Sprintf("%T", s)
}

// StmtsString writes a list of statements, each in braces as in a `do` list.
func StmtsString(list []Stmt) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = "{" + StmtString(s) + "}"
	}
	return strings.Join(parts, ", ")
}

// SendString writes the message that s sends, and its receiver if that is not the only peer:
// `UPDATE{value}`, `PONG, to: sender`.
func SendString(s *Send) string {
	return s.Message.Name + author.fields(s.Message.Fields, s.Fields) + printDest(s.Dest, s.To, ", to: ")
}

// ReportString writes the report that s makes: `changed{item, value}`.
func ReportString(s *ReportStmt) string {
	return s.Report.Name + author.fields(s.Report.Fields, s.Fields)
}

// TimerString writes the timer that a start or stop is about: `alive[p]`.
func TimerString(s Stmt) string {
	switch s := s.(type) {
	case *StartTimer:
		return author.timer(s.Timer, s.Keys)
	case *StopTimer:
		return author.timer(s.Timer, s.Keys)
	}
	return ""
}

// RunString writes the part and the event that s gives it: `fleet[true, slot].change{ship}`.
func RunString(s *Run) string {
	return author.part(s.Part, s.Keys) + "." + s.Event.Name + author.fields(s.Event.Fields, s.Args)
}

// SetString writes an assignment as on paper: `own = value`.
func SetString(s *Set) string { return PlaceString(s, len(s.Select)) + " = " + ExprString(s.Value) }

// PlaceString writes the place that s assigns to, up to its first n selectors: `table[slot]` of
// `table[slot].ship`.
func PlaceString(s *Set, n int) string {
	place := s.Var.Name
	for _, sel := range s.Select[:n] {
		if sel.Field != nil {
			place += "." + sel.Field.Name
		} else {
			place += "[" + ExprString(sel.Index) + "]"
		}
	}
	return place
}

func printDest(d Dest, to Expr, before string) string {
	switch d {
	case ToSender:
		return before + "sender"
	case ToBroadcast:
		return before + "all"
	case ToExpr:
		return before + ExprString(to)
	}
	return ""
}
