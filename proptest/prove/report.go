package prove

import (
	"github.com/parley-go/parley/runtime/run"
)

// The results of a claim, and of a check.
const (
	Proved         = "proved"
	Violated       = "violated"
	NotEstablished = "not established"
	// NotAttempted is the verdict on a check of a sort that no proof is made for.
	NotAttempted = "not attempted"
)

// The ways in which something was established.
const (
	// ByClosure: the channels close by themselves.
	ByClosure = "closure"
	// ByCollapse: runs of equal messages were collapsed.
	ByCollapse = "collapse"
)

// Claim is the result for one claim.
type Claim struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Result string `json:"result"`
	Text   string `json:"text,omitempty"`
	Note   string `json:"note,omitempty"`
	// Expected: the check expects this claim to be violated.
	Expected       bool     `json:"expected,omitempty"`
	Counterexample *run.Run `json:"counterexample,omitempty"`
}

// Report says what was established about one check for channels without a bound. The
// JSON names are stable.
type Report struct {
	Spec     string `json:"spec"`
	Protocol string `json:"protocol"`
	Check    string `json:"check"`
	Hash     string `json:"hash"`
	Lift     Lift   `json:"lift,omitempty"`
	// Verdict is proved if every claim that is not expected to be violated is, violated if one
	// that is not expected is violated (or one that is expected is proved), else not established; not
	// attempted if the check is of a sort that no proof is made for.
	Verdict string `json:"verdict"`
	// Method is ByClosure or ByCollapse; empty if neither came to an end.
	Method string `json:"method,omitempty"`
	// Established says in words what was established and for which class of systems.
	Established []string `json:"established"`
	// Why says what stands in the way.
	Why    []string `json:"why,omitempty"`
	Claims []Claim  `json:"claims"`
	// Configurations and Steps of the closed set: real ones (closure) or collapsed ones.
	Configurations int `json:"configurations"`
	Steps          int `json:"steps"`
	// Widest is the most messages in one channel (closure), or the most blocks (collapse).
	Widest int `json:"widest"`
	// Collapsed lists the messages, by channel, whose runs were collapsed.
	Collapsed []string `json:"collapsed,omitempty"`
	// Exact is how many equal messages in a row were still told apart.
	Exact int `json:"exact,omitempty"`
	// AllValues: the result holds for opaque types of any size; Values were explored, and at most
	// Live of them occur in one configuration.
	AllValues bool  `json:"all_values,omitempty"`
	Values    int64 `json:"values,omitempty"`
	Live      int   `json:"live,omitempty"`
	// For says for how many values of opaque types and texts the result is; empty if there are none
	// of which that matters.
	For string `json:"for,omitempty"`
	// Verified: the certificate was accepted by the independent verifier.
	Verified bool    `json:"verified"`
	Seconds  float64 `json:"seconds"`
}
