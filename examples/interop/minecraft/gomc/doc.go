// Package gomc holds the client and the server of package minecraft against those of go-mc, which others have
// written. It has a module of its own, so that nobody else needs that library.
package gomc
