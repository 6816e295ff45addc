// Package sealwax seals the state that an MCP (Model Context Protocol) server hands to its clients.
//
// A [Codec] holds the keys and the name of a service. Its [Codec.View] is for one authenticated principal, and gives a
// [Sealer] for each kind of token, [Sessions], and session ids and handles. Any number of goroutines may share all of
// these.
//
// An [Error] is for the server's log; [AnswerTo] gives the client's answer. Where an error is to be told from others,
// it is a [Code]:
//
//	if errors.Is(err, sealwax.ErrExpired) { … }
//
// Package sealwaxmcp (/mcp) guards the servers of the official Go SDK with it, and sealwaxtest helps to test them.
//
// The core is written in Rust, and runs here as Go source that was translated from WebAssembly: no cgo, and any
// platform.
package sealwax
