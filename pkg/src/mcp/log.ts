import { attempt } from './later.js';

type Fields = Readonly<Record<string, unknown>>;

/** Receives the lines of a log, each with its fields: `console`, `winston`, or an object of your own. */
export interface Logger {
  warn(line: string, fields: Fields): void;
  /** Receives what is the service's fault; without it, `warn` does. */
  error?(line: string, fields: Fields): void;
}

/** Writes to the console, in Node to stderr, each line after its time and level. */
export const standard: Logger = {
  warn: (line, { time }) => console.warn(`${time ?? now()} WARN ${line}`),
  error: (line, { time }) => console.error(`${time ?? now()} ERROR ${line}`),
};

/** Logs a line. An error of the logger changes no answer. */
export function write(logger: Logger, line: string, fields: Fields = {}): void {
  const isError = fields.level === 'error' && logger.error !== undefined;
  quietly(() => (isError ? logger.error?.(line, fields) : logger.warn(line, fields)));
}

/** Calls a function whose errors concern nobody. */
export function quietly(work: () => unknown): void {
  attempt(
    work,
    () => {},
    () => {},
  );
}

function now(): string {
  return new Date().toISOString();
}
