// Package engine is the guard's engine and the ledgers' rules: documents in and documents out, as docs/engine.md describes them.
package engine
