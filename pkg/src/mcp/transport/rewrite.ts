/** Changes the messages of an HTTP response, as JSON or as an event stream. */

import type { Message } from './messages.js';

export type Edit = (message: Message) => Message;

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Returns a response whose messages are edited as they pass. A response without messages is unchanged. */
export function rewritten(response: Response, edit: Edit): Response {
  const { body } = response;
  if (body === null) return response;
  const stream = isStream(response);
  let rest = '';
  const lines = new TransformStream<string, string>({
    transform(chunk, controller) {
      rest += chunk;
      if (!stream) return;
      const end = Math.max(rest.lastIndexOf('\n'), rest.lastIndexOf('\r')) + 1;
      if (end > 0) controller.enqueue(editedText(rest.slice(0, end), stream, edit));
      rest = rest.slice(end);
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(editedText(rest, stream, edit));
    },
  });
  const text = body.pipeThrough(new TextDecoderStream()).pipeThrough(lines);
  return sameBut(response, text.pipeThrough(new TextEncoderStream()));
}

/** Reads a whole response and returns its messages, and a response with the edited messages. */
export async function whole(
  response: Response,
  edit: Edit = (message) => message,
): Promise<{ readonly messages: readonly Message[]; again(): Response }> {
  const text = await response.text();
  const messages: Message[] = [];
  const edited = editedText(text, isStream(response), (message) => {
    messages.push(message);
    return edit(message);
  });
  return { messages, again: () => sameBut(response, edited) };
}

function editedText(text: string, stream: boolean, edit: Edit): string {
  if (!stream) return editedJson(text, edit);
  // Each event of the SDK has one data line. Only CR and LF end lines. Every other line passes
  // unchanged: ids, event names, retry times, comments.
  return text.replace(/(^|[\r\n])data:([^\r\n]*)/g, (line, before: string, data: string) => {
    const edited = editedJson(data, edit);
    return edited === data ? line : `${before}data: ${edited}`;
  });
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

function sameBut({ status, statusText, headers }: Response, body: BodyInit): Response {
  const same = new Headers(headers);
  same.delete('content-length');
  return new Response(body, { status, statusText, headers: same });
}
