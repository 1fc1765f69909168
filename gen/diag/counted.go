package diag

import "fmt"

// Counted writes how many there are of something: 1 step, 2 steps. What is the word for one, whose plural ends in s.
func Counted[N int | int64 | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
