/** The documents of a run, as `cli/src/document.rs` of the repository has them. */

import type { Command } from '../mcp/ledger/ledger.js';

/** What to do next. */
export type Ask =
  | { stdin: string }
  | { file: string; replaced: boolean }
  | { redis: string; send: [string, ...string[]] }
  | { sqlite: string; query: string; parameters: string[] }
  | { sqlite: string; run: Command }
  | { stdout: string; wait: number; write?: { path: string; text: string } }
  | { stderr: string; status: number };

export type Answer =
  | { bytes: string }
  | { text: string }
  | { texts: string[] }
  | { number: number }
  | { error: string }
  | { absent: true }
  | { link: true }
  | { invalid: true }
  | { failed: string; tip?: string };

/** The answer for what failed here. */
export function failed(error: unknown): Answer {
  const { message } = error as NodeJS.ErrnoException;
  // `ENOENT: no such file or directory, open '…'`: the place is said before.
  return { failed: message.split(/, |\n/)[0] ?? message };
}
