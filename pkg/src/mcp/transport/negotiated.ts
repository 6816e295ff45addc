/** The values negotiated at `initialize`, for every request of the session. */
export interface Negotiated {
  readonly protocolVersion: string;
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly serverCapabilities: Readonly<Record<string, unknown>>;
}
