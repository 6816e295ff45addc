/**
 * Quotes a client's text for logs and messages: its first 64 characters, as an ASCII JSON string.
 */
export function quoted(text: string): string {
  const cut = Array.from(text.slice(0, 128)).slice(0, 64).join('');
  return JSON.stringify(cut).replace(/[^ -~]/g, escaped);
}

/** Escapes a message that may contain text of others. */
export function printable(message: string): string {
  return message.slice(0, 500).replace(/[^ -~]/g, escaped);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
