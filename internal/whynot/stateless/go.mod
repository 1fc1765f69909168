module github.com/parley-go/parley/internal/whynot/stateless

go 1.26.0

require github.com/qmuntal/stateless v1.7.2
