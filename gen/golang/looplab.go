package golang

import "github.com/dave/jennifer/jen"

func (g *gen) looplabDir() string { return "looplab" + g.o.Package }

func (g *gen) looplabFile(r *machine) *jen.File { return g.file(g.looplabDir()) }
