import type { Reply, ToolResult } from './engine.js';

/**
 * A handle that is not good, or could not be made. Why is told to the guard's `onRefused`, not
 * here.
 *
 * Let it through from a tool of an `McpServer`, and the SDK makes of it the one fixed result that
 * tells the model what to do next; elsewhere, an error. A handler of `tools/call` of a low-level
 * `Server` catches it and returns {@link HandleRefused.toolResult}, which is the same.
 */
export class HandleRefused extends Error {
  /** The result of the `tools/call`. */
  readonly toolResult: ToolResult;
  /** Of the error elsewhere than in a tool. */
  readonly code: number | undefined;

  /** @internal */
  constructor({ tool, error }: Reply) {
    if (tool === undefined) throw new TypeError('engine: expected the result of a tool');
    super(tool.content[0].text);
    this.name = 'HandleRefused';
    this.toolResult = tool;
    this.code = error?.code;
  }
}
