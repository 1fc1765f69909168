package system

import (
	"slices"

	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// maxVariants bounds how many steps one becomes whose messages may find channels full.
const maxVariants = 1 << 10

// roomy emits a step. Where messages that find their channel full are lost, it becomes several, one
// for each way in which the channels may have room: a step with fewer messages where they are full.
func (s *Machines) roomy(step explore.Step, emit func(explore.Step)) {
	if len(step.Sends) == 0 || step.Fault != nil {
		emit(step)
		return
	}
	var into []int
	for _, x := range step.Sends {
		if s.loses(x.Channel) && !s.free(x) && !slices.Contains(into, x.Channel) {
			into = append(into, x.Channel)
		}
	}
	if len(into) == 0 {
		emit(step)
		return
	}
	variants := 1
	for _, k := range into {
		variants *= s.count(step.Sends, k) + 1
	}
	if variants > maxVariants {
		step.Fault = &explore.Fault{Kind: explore.OtherFault,
			Text: "it sends too much at once to tell what is lost where channels are full"}
		emit(step)
		return
	}
	s.variants(step, into, map[int]int{}, emit)
}

// loses reports whether what finds no room in a channel is lost.
func (s *Machines) loses(k int) bool { return k < s.Own && s.Rules.Channels[k].Full == world.FullLose }

// free reports whether what is sent takes no room, and so is never lost: news of a link.
func (s *Machines) free(x explore.Send) bool {
	free := s.System.Channels[x.Channel].Free
	return free != nil && free(x.Msg)
}

// count is how many messages go into channel k, news of its link aside.
func (s *Machines) count(sends []explore.Send, k int) int {
	n := 0
	for _, x := range sends {
		if x.Channel == k && !s.free(x) {
			n++
		}
	}
	return n
}

// variants decides for each channel how many of the messages into it find room.
func (s *Machines) variants(step explore.Step, into []int, room map[int]int, emit func(explore.Step)) {
	if len(into) == 0 {
		all := step.Sends
		step.Sends = nil
		left := map[int]int{}
		for k, n := range room {
			left[k] = n
		}
		for _, x := range all {
			if s.free(x) || !s.loses(x.Channel) {
				step.Sends = append(step.Sends, x)
				continue
			}
			if left[x.Channel]--; left[x.Channel] >= 0 {
				step.Sends = append(step.Sends, x)
			}
		}
		emit(step)
		return
	}
	k := into[0]
	most, limit := s.count(step.Sends, k), s.System.Channels[k].Cap
	lens := step.Lens
	for n := min(most, limit); n >= 0; n-- {
		r := explore.LenRange{Channel: k, Lo: limit - n, Hi: limit - n}
		switch {
		case n == most:
			r.Lo = 0
		case n == 0:
			r.Hi = -1
		}
		room[k] = n
		step.Lens = append(slices.Clip(lens), r)
		s.variants(step, into[1:], room, emit)
	}
}
