/** Changes the messages of an HTTP response, as JSON or as an event stream. */

import type { Message } from './messages.js';

export type Edit = (message: Message) => Message;

/** Returns a response whose messages are edited as they pass. A response without messages is unchanged. */
export function rewritten(response: Response, edit: Edit): Response {
  const { body } = response;
  if (body === null) return response;
  let rest = '';
  const lines = new TransformStream<string, string>({
    transform(chunk, controller) {
      rest += chunk;
      if (!isStream(response)) return;
      const end = Math.max(rest.lastIndexOf('\n'), rest.lastIndexOf('\r')) + 1;
      if (end > 0) controller.enqueue(edited(response, rest.slice(0, end), edit));
      rest = rest.slice(end);
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(edited(response, rest, edit));
    },
  });
  const text = body.pipeThrough(new TextDecoderStream()).pipeThrough(lines);
  return withBody(response, text.pipeThrough(new TextEncoderStream()));
}

/** Returns the text of a response, or whole lines of it, with edited messages. */
export function edited(response: Response, text: string, edit: Edit): string {
  if (!isStream(response)) return editedJson(text, edit);
  // Each event of the SDK has one data line. Only CR and LF end lines. Every other line passes
  // unchanged: ids, event names, retry times, comments.
  return text.replace(/(^|[\r\n])data:([^\r\n]*)/g, (line, before: string, data: string) => {
    const edited = editedJson(data, edit);
    return edited === data ? line : `${before}data: ${edited}`;
  });
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Edits a text if it is a message; returns any other text unchanged, also one too deep to be written again. */
function editedJson(text: string, edit: Edit): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return text;
    const edited = Array.isArray(parsed) ? parsed.map(edit) : edit(parsed as Message);
    return edited === parsed ? text : JSON.stringify(edited);
  } catch {
    return text;
  }
}

/** Returns a response with another body. */
export function withBody({ status, statusText, headers }: Response, body: BodyInit): Response {
  const same = new Headers(headers);
  same.delete('content-length');
  return new Response(body, { status, statusText, headers: same });
}
