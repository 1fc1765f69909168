// Package sources holds the pages specs/*/SOURCES.md to the specifications beside them: its tests find
// every name on a page in the files that the page is about, and compare the tables of layouts, lines,
// transitions and values with the compiled specifications. It must know nothing of a particular protocol.
package sources
