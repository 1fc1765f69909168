module github.com/parley-go/parley/examples/cluster

go 1.26.0

require github.com/parley-go/parley v0.0.0

replace github.com/parley-go/parley => ../..
