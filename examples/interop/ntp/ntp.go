// Package ntp asks a server for the time with the machine of specs/library/ntp. It computes how far the clock
// is off (RFC 5905, section 8) and sets nothing. Start from [Ask].
package ntp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/parley-go/parley/machines/ntp"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// Sample is one answer.
type Sample struct {
	Offset, Delay time.Duration // of the server's clock against ours, and of the way there and back
	Stratum       int
}

// Ask asks the server at address up to n times, until it answers, and returns what the first answer says.
func Ask(ctx context.Context, address string, n int) (Sample, error) {
	type answer struct {
		s   Sample
		err error
	}
	answers := make(chan answer, 1)
	h := &ntp.ClientHandlers{
		Answered: func(r ntp.ClientAnsweredReport) {
			answers <- answer{s: sample(r, time.Now())}
		},
		Kissed: func(r ntp.ClientKissedReport) {
			var code [4]byte
			binary.BigEndian.PutUint32(code[:], uint32(r.Source))
			answers <- answer{err: fmt.Errorf("the server does not want to be asked: %s", code[:])}
		},
		Unanswered: func(ntp.ClientUnansweredReport) { answers <- answer{err: errors.New("no answer")} },
	}
	s, err := play.Dial(ctx, "udp", address, ntp.NewClientRunner(), h, play.Options{Handshake: -1})
	if err != nil {
		return Sample{}, err
	}
	defer s.Close()
	for range n {
		err = s.Give(func(r *ntp.ClientRunner) fsm.Result { return r.Ask(stamp(time.Now())) })
		if err != nil {
			return Sample{}, err
		}
		select {
		case a := <-answers:
			if a.err == nil {
				return a.s, nil
			}
			err = a.err
		case <-ctx.Done():
			return Sample{}, ctx.Err()
		}
	}
	return Sample{}, err
}

// sample is what an answer that came at a time says.
func sample(r ntp.ClientAnsweredReport, at time.Time) Sample {
	there := moment(r.Received).Sub(moment(r.Origin)) // with the clocks' difference
	back := at.Sub(moment(r.Sent))                    // and without it
	return Sample{Offset: (there - back) / 2, Delay: there + back, Stratum: int(r.Stratum)}
}

// epoch is where NTP counts from; each 136 years the count begins anew, first in 2036.
var epoch = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// era is how long it counts.
const era = 1 << 32

// stamp is a moment in seconds and parts of 1<<32 of a second.
func stamp(at time.Time) ntp.Stamp {
	seconds := uint64(at.Unix() - epoch.Unix())
	return ntp.Stamp(seconds<<32 | uint64(at.Nanosecond())<<32/uint64(time.Second))
}

// moment is the time of a stamp, in the era nearest to now.
func moment(s ntp.Stamp) time.Time {
	nanos := (int64(s&(1<<32-1))*int64(time.Second) + 1<<31) >> 32
	at := time.Unix(epoch.Unix()+int64(s>>32), nanos)
	for time.Since(at) > era/2*time.Second {
		at = time.Unix(at.Unix()+era, nanos)
	}
	return at
}
