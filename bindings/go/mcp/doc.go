// Package sealwaxmcp guards a server of the official Go SDK of MCP: it seals what leaves for the clients as requestState,
// cursors, handles and sessions, and opens and checks what comes back before any handler runs.
//
// One [Guard] protects any number of servers. Make it of a codec and of what tells who calls, and call [Guard.Protect] once
// all middleware of your own is added:
//
//	codec, err := sealwax.FromEnv("https://notes.example.com")
//	…
//	guard, err := sealwaxmcp.New(codec, sealwaxmcp.FromToken)
//	…
//	err = guard.Protect(server)
//
// A handler makes the next requestState with [Guard.State] and reads it with [Opened]. [Guard.ReferenceHandles],
// [NewSelfContainedHandles] and [NewSessions] make what a tool's arguments or the client's sessions hold. Cursors of lists need
// nothing: whatever text a list returns as its cursor leaves sealed. [Guard.Cursor] makes those of a tool's results, and
// [NewLinks] what a browser brings back. [WithConfirm] asks the user before a tool runs.
//
// Clients of revisions up to 2025-11-25 get an Mcp-Session-Id by [Guard.HTTP]; over stdio, sessions of SEP-1359 by
// [Guard.Stdio].
//
// All rules are the engine's, which is the same for every language; this package connects it to the SDK.
package sealwaxmcp
