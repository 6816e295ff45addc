package sealwax

import (
	"encoding/json"
	"errors"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Profile is the part of the protocol in which a refused token came.
type Profile string

// The profiles.
const (
	ProfileSEP1359           Profile = "sep-1359"
	ProfileDataLayer         Profile = "data-layer"
	ProfileDataLayerRequired Profile = "data-layer-required"
	ProfileRequestState      Profile = "request-state"
	ProfileCursor            Profile = "cursor"
	ProfileMCPSessionID      Profile = "mcp-session-id"
	ProfileHandle            Profile = "handle"
)

// Answer is what to send to the client: one of its members is set.
type Answer struct {
	// Error is a JSON-RPC error object.
	Error *AnswerError `json:"error,omitempty"`
	// HTTPStatus is a bare status.
	HTTPStatus int `json:"httpStatus,omitempty"`
	// ToolResult is the result of a tool call.
	ToolResult json.RawMessage `json:"toolResult,omitempty"`
}

// AnswerError is a JSON-RPC error object.
type AnswerError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// AnswerTo returns the answer for the client. All refusals of a profile get the same one, also without an error, so
// that a client cannot learn which check failed. Any other error is an internal error. The session id is the client's,
// or empty: it is echoed only if the profile does so, and only if it is well formed.
func AnswerTo(profile Profile, err error, sessionID string) (Answer, error) {
	status, echoed := statusOf(err), &sessionID
	if sessionID == "" {
		echoed = nil
	}
	found, err := written(answerMax, func(c *host.Call, out host.Ptr, limit int32, size host.Ptr) int32 {
		name, nameLen := c.Text(string(profile))
		id, idLen := c.GivenText(echoed)
		return c.Xsealwax_answer(name, nameLen, status, id, idLen, out, limit, size, c.Error())
	})
	var answer Answer
	if err == nil {
		err = json.Unmarshal(found, &answer)
	}
	return answer, err
}

// statusOf returns the status of an error; one that is not ours is internal.
func statusOf(err error) int32 {
	var told *Error
	var code Code
	switch {
	case err == nil:
		return 0
	case errors.As(err, &told) && told.status != 0:
		return told.status
	case errors.As(err, &code):
		return host.StatusOf(string(code))
	}
	return statusInternalError
}
