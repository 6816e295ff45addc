package sealwaxmcp_test

import (
	"io"
	"net/http"
	"testing"
)

func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
