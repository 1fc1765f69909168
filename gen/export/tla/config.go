package tla

import (
	"fmt"
	"strings"
)

// Files are a module and the configurations with which TLC runs it.
type Files struct {
	// Name is that of the module; its file must be NAME.tla.
	Name, Module string
	// Configs are first the one for all that holds in every configuration, and then one for each claim that says
	// what holds somewhere or in the end.
	Configs []Config
	// Claims says which invariant stands for which of the author's claims.
	Claims []Claim
	// Left are the claims that are not exported, each with the reason.
	Left []string
}

// Claim is an invariant that stands for a claim. Sometimes: the claim holds if the invariant does not.
type Claim struct {
	Invariant, Name string
	Sometimes       bool
}

// Config is what TLC has to look at.
type Config struct {
	// Name is that of the claim; empty for the first one.
	Name, Doc              string
	Spec                   string
	Invariants, Properties []string
}

// Text is the configuration in the language of TLC.
func (c *Config) Text() string {
	var b strings.Builder
	if c.Doc != "" {
		fmt.Fprintf(&b, "\\* %s\n", c.Doc)
	}
	fmt.Fprintf(&b, "SPECIFICATION %s\n", c.Spec)
	for _, x := range c.Invariants {
		fmt.Fprintf(&b, "INVARIANT %s\n", x)
	}
	for _, x := range c.Properties {
		fmt.Fprintf(&b, "PROPERTY %s\n", x)
	}
	b.WriteString("CHECK_DEADLOCK FALSE\n")
	return b.String()
}
