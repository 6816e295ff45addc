package io.github.sealwax;

/** The part of the protocol in which a refused token came. */
public enum Profile {
  /** Sessions of SEP-1359. */
  SEP_1359("sep-1359"),
  /** Data-layer sessions that a request may have. */
  DATA_LAYER("data-layer"),
  /** Data-layer sessions that a request must have. */
  DATA_LAYER_REQUIRED("data-layer-required"),
  /** {@code requestState}. */
  REQUEST_STATE("request-state"),
  /** Cursors. */
  CURSOR("cursor"),
  /** {@code Mcp-Session-Id}. */
  MCP_SESSION_ID("mcp-session-id"),
  /** Handles, among the arguments of a tool. */
  HANDLE("handle");

  private final String text;

  Profile(String text) {
    this.text = text;
  }

  /** Returns its name in every language. */
  @Override
  public String toString() {
    return text;
  }
}
