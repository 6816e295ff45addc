type Fields = Readonly<Record<string, unknown>>;

/**
 * Receives the lines of a log, each with its fields: `console`, `winston`, or an object of your own. Lines of a level without a
 * method of its own, `error` or `info`, go to `warn` and to nobody.
 */
export interface Logger {
  info?(line: string, fields: Fields): void;
  warn(line: string, fields: Fields): void;
  error?(line: string, fields: Fields): void;
}

/** Writes each line after its time and level: to stderr, where there is one, for stdout may be a server's transport. */
export const standard: Logger = {
  info: (line, { time }) => print('info', line, time),
  warn: (line, { time }) => print('warn', line, time),
  error: (line, { time }) => print('error', line, time),
};

let isHeard = false;

/** Nobody may read stderr any more: without a listener for that, Node ends the process at the second line. */
function print(level: string, line: string, time: unknown): void {
  if (!isHeard) globalThis.process?.stderr?.on?.('error', () => {});
  isHeard = true;
  const write = level === 'error' ? console.error : console.warn;
  write(`${time ?? now()} ${level.toUpperCase()} ${line}`);
}

/** Logs a line by its level. An error of the logger changes nothing. */
export function write(logger: Logger, line: string, fields: Fields = {}): void {
  const isError = fields.level === 'error' && logger.error !== undefined;
  const level = isError ? 'error' : fields.level === 'info' ? 'info' : 'warn';
  quietly(() => logger[level]?.(line, fields));
}

/** Calls a function whose errors concern nobody. */
export async function quietly(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // There is nobody left to tell.
  }
}

function now(): string {
  return new Date().toISOString();
}
