package codec

import (
	"encoding/binary"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// News is what a channel carries besides messages. Its number follows those of the messages.
type News int

// The news of a link, of a partition and of time.
const (
	NewsCut News = iota
	NewsAsk
	NewsAnswer
	NewsReset
	NewsParted // then whom the instance is kept away from
	NewsBeat
	newsCount
)

// String returns what it is in words.
func (n News) String() string {
	switch n {
	case NewsParted:
		return "news of a partition"
	case NewsBeat:
		return "beat"
	}
	return run.NewsText([...]world.News{
		NewsCut: world.Cut, NewsAsk: world.Ask, NewsAnswer: world.Answer, NewsReset: world.Reset,
	}[n])
}

// NewsOf tells news from messages.
func NewsOf(p *model.Protocol, msg []byte) (News, bool) {
	n := MessageIndex(msg) - len(p.Messages)
	return News(n), n >= 0
}

// PackNews makes the bytes of news, with the number that comes with it.
func PackNews(p *model.Protocol, n News, number int64) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 5), uint64(len(p.Messages)+int(n)))
	return AppendSlots(b, []int64{number})
}

// Number returns what comes with news.
func Number(msg []byte) int64 {
	n := make([]int64, 1)
	_, at := binary.Uvarint(msg)
	ReadSlots(msg[at:], n)
	return n[0]
}

// PackItem makes the bytes of what the world puts into a channel: its age is 0.
func PackItem(p *model.Protocol, x world.Item[string]) []byte {
	if x.News == world.NoNews {
		return []byte(x.Message)
	}
	n := [...]News{
		world.Cut: NewsCut, world.Ask: NewsAsk, world.Answer: NewsAnswer, world.Reset: NewsReset,
	}[x.News]
	return PackNews(p, n, int64(x.Number)|int64(x.Heard)<<8)
}

// UnpackItem is the inverse of PackItem.
func UnpackItem(p *model.Protocol, msg []byte) world.Item[string] {
	bare, age := Aged(p, msg)
	n, ok := NewsOf(p, msg)
	if !ok {
		return world.Item[string]{Message: string(bare), Age: uint8(age)}
	}
	number := Number(msg)
	return world.Item[string]{
		Age:    uint8(age),
		News:   [newsCount]world.News{world.Cut, world.Ask, world.Answer, world.Reset}[n],
		Number: uint8(number & 255), Heard: uint8(number >> 8),
	}
}

// Counts reports whether what lies in a channel counts where messages of a name do, or all if it is
// nil, and news of links does or does not.
func Counts(p *model.Protocol, message *model.Message, news bool, msg []byte) bool {
	if _, is := NewsOf(p, msg); is {
		return news
	}
	return message == nil || message.Name == p.Messages[MessageIndex(msg)].Name
}
