/**
 * What a client sent, as it may stand in a log or in a message: a JSON string of ASCII, of its first
 * 64 characters.
 */
export function quoted(text: string): string {
  const cut = Array.from(text.slice(0, 128)).slice(0, 64).join('');
  return JSON.stringify(cut).replace(/[^ -~]/g, escaped);
}

/** The same of a whole message, which may hold what others wrote. */
export function printable(message: string): string {
  return message.slice(0, 500).replace(/[^ -~]/g, escaped);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
