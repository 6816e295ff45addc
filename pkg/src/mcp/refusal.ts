import type { Reply } from '../documents.js';

/** The result of a tool whose handle was refused. */
export interface HandleRefusal {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly isError: true;
}

/**
 * A handle was refused or could not be created. Only the guard's `onRefused` learns the reason.
 *
 * In a tool of an `McpServer`, do not catch it: the SDK turns it into the fixed result that tells the model
 * what to do next; elsewhere, into an error. A `tools/call` handler of a low-level `Server` catches it and
 * returns {@link HandleRefused.toolResult}, which is the same result.
 */
export class HandleRefused extends Error {
  /** The result of the `tools/call`. */
  readonly toolResult: HandleRefusal;
  /** The code of the JSON-RPC error outside of tools. */
  readonly code: number | undefined;

  /** @internal */
  constructor({ tool, error }: Reply) {
    if (!tool) throw new TypeError('engine: expected the result of a tool');
    super(tool.content?.[0]?.text);
    this.name = 'HandleRefused';
    this.toolResult = tool as HandleRefusal;
    this.code = error?.code;
  }
}

/** A link was refused, or the server failed. Only the guard's log learns the reason. */
export class LinkRefused extends Error {
  /** The status for the browser: 404, or 500 if the fault is the server's. */
  readonly status: number;

  /** @internal */
  constructor(status = 500) {
    super(status < 500 ? 'Not found' : 'Internal server error');
    this.name = 'LinkRefused';
    this.status = status;
  }
}
