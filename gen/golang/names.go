package golang

import (
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// Options say what is generated.
type Options = base.Options

// NotGo is the error of generated code that is not even Go, which is never the specification's fault.
type NotGo = base.NotGo

// Version is fsmgen's version, written into every generated file.
const Version = base.Version

// Contract is the version of runtime/fsm that generated code asks for.
const Contract = base.Contract

// ForCheck stands in the header between the specification and the check whose constants and domains
// the machines have.
const ForCheck = base.ForCheck

// GoName turns a name of a specification into an exported Go name.
func GoName(name string) string { return base.GoName(name) }

// GoNames gives every name of one scope its Go name; a name that is taken by an earlier one gets a
// number.
func GoNames(names ...string) []string { return base.GoNames(names...) }

// MachineMembers gives the members of the struct for a machine in their order.
func MachineMembers(m *model.Machine) []string { return base.MachineMembers(m) }

// MessageMembers gives for each message the member of Message that it has if it has fields.
func MessageMembers(list []*model.Message) []string { return base.MessageMembers(list) }

// PackageName is the name of the package for a protocol unless another is chosen.
func PackageName(p *model.Protocol) string { return base.PackageName(p) }

// Programs lists the roles that are generated as machines of their own: all but those that are only
// parts of others, in no check an instance.
func Programs(p *model.Protocol) []*model.Machine { return types.Programs(p) }
