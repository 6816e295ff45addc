// Package engine is the guard's engine and the ledgers' rules: frames in and frames out, as docs/engine.md describes them.
package engine
