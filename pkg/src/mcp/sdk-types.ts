/**
 * What the guard takes from the official SDK, as types of its own: both majors have it, `@modelcontextprotocol/server` and
 * `@modelcontextprotocol/sdk` from 1.13 on, and neither has to be installed. All of it is public there.
 */

export type RequestId = string | number;

export type Params = Readonly<Record<string, unknown>>;

/** A notification of a client. */
export interface ClientNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params | undefined;
}

/** A request of a client. */
export interface ClientRequest extends ClientNotification {
  readonly id: RequestId;
}

/** The response to a request; only an error may have no id. */
export type ServerResponse =
  | { readonly jsonrpc: '2.0'; readonly id: RequestId; readonly result: Params }
  | {
      readonly jsonrpc: '2.0';
      readonly id?: RequestId;
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

export type ClientMessage = ClientRequest | ClientNotification;

export type ProtocolMessage = ClientMessage | ServerResponse;

/** What a transport tells of a message: 2.x hands over the request of HTTP, 1.x its headers. */
export interface MessageExtra {
  readonly authInfo?: AuthInfo | undefined;
  readonly request?: Request | undefined;
  readonly requestInfo?: { readonly headers: MessageHeaders; readonly url?: URL | undefined };
}

export type MessageHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A transport. The SDK sets its callbacks before it starts it, and sends every message by it. */
export interface Transport {
  readonly sessionId?: string | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: ProtocolMessage, extra?: MessageExtra) => void) | undefined;
  start(): Promise<void>;
  send(message: ProtocolMessage, options?: unknown): Promise<void>;
}

/** A server of the SDK: `McpServer` or the low-level `Server`. */
export interface AnyServer {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
}

/** A handler's context, which identifies its request: every `ServerContext` of 2.x, and the `extra` of 1.x. */
export interface HandlerContext {
  readonly mcpReq?: {
    readonly _meta?: Params | undefined;
    requestState?(): unknown;
  };
  readonly _meta?: Params | undefined;
}

/** Who is signed in, as the SDK's middleware found it. */
export interface AuthInfo {
  token: string;
  clientId: string;
  scopes: string[];
  expiresAt?: number;
  resource?: URL;
  extra?: Record<string, unknown>;
}
