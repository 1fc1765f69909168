package golang

import (
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// Options say what is generated.
type Options = base.Options

// NotGo is the error for generated code that Go cannot parse. That is a fault of the generator.
type NotGo = base.NotGo

// Version is fsmgen's version, which every generated file has.
const Version = base.Version

// Contract is the version of runtime/fsm that generated code needs.
const Contract = base.Contract

// ForCheck stands in the header between the specification and the check that the machines are generated
// for.
const ForCheck = base.ForCheck

// GoName turns a name of a specification into an exported Go name.
func GoName(name string) string { return base.GoName(name) }

// GoNames returns the Go names for the names of one scope. If an earlier name has taken one, the later
// one gets a number.
func GoNames(names ...string) []string { return base.GoNames(names...) }

// MachineMembers returns the names of the members of a machine's struct, in order.
func MachineMembers(m *model.Machine) []string { return base.MachineMembers(m) }

// MessageMembers returns for each message the name of the member of Message that has its fields.
func MessageMembers(list []*model.Message) []string { return base.MessageMembers(list) }

// PackageName returns the default name of the package for a protocol.
func PackageName(p *model.Protocol) string { return base.PackageName(p) }

// Programs returns the roles that are generated as machines of their own. A role that is a part of
// another one is left out, unless a check has it as an instance.
func Programs(p *model.Protocol) []*model.Machine { return types.Programs(p) }
