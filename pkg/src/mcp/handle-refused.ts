import type { Answer } from '../answer.js';

type ToolResult = Extract<Answer, { toolResult: unknown }>['toolResult'];

/**
 * A handle that is not good, or could not be made. Why is told to the guard's `onRefused`, not
 * here.
 *
 * Let it through from a tool of an `McpServer`, and the SDK makes of it the one fixed result that
 * tells the model what to do next. A handler of a low-level `Server` catches it and returns
 * {@link HandleRefused.toolResult}, which is the same.
 */
export class HandleRefused extends Error {
  /** The result of the `tools/call`. */
  readonly toolResult: ToolResult;

  /** @internal */
  constructor(answer: Answer) {
    if (!('toolResult' in answer)) throw new TypeError('answer: expected the result of a tool');
    super(answer.toolResult.content[0].text);
    this.name = 'HandleRefused';
    this.toolResult = answer.toolResult;
  }
}
