import { SealwaxError } from '../error.js';
import type { Told } from './engine.js';
import { TimeoutError } from './later.js';
import { LedgerFailure } from './ledger/ledger.js';

/** The form of codes, such as `ECONNREFUSED`; no other text of an error is named. */
const CODE = /^[A-Z][A-Z0-9_]{2,40}$/;
/** The errors with which clients of Redis pass a reply on: its first word is a code, but `ERR` says nothing. */
const REPLY = /^(?:ReplyError|ErrorReply|SimpleError|BlobError|UpstashError)$/;

/**
 * Tells the engine why a function of the application, or a store, did not answer: by the code and the class of the error,
 * or of what caused it. Only the message of our own errors is told: that of another may contain a credential.
 */
export function failed(cause: unknown): Told {
  if (cause instanceof TimeoutError) return { cause };
  const isOurs = cause instanceof SealwaxError || cause instanceof LedgerFailure;
  if (isOurs) return { wrong: cause.message, cause };
  return { threw: nameOf(cause), cause };
}

/** Returns the code and the class of an error, and none of its texts. */
export function nameOf(error: unknown): string {
  try {
    const name = classOf(error);
    const code = codeOf([error]);
    if (code === undefined) return name ?? 'an error';
    return name === undefined || name === 'Error' ? code : `${code} (${name})`;
  } catch {
    // A member of it throws.
    return 'an error';
  }
}

/** Returns the first code of the errors and their causes. */
function codeOf(errors: unknown[]): string | undefined {
  // The list grows while it is read; it may have circles.
  for (const error of errors) {
    const { code, errstr, message, cause, errors: several, lastNodeError } = Object(error);
    // SQLite's own text for a code, such as `database is locked`.
    if (typeof errstr === 'string' && /^[\w -]{1,60}$/.test(errstr)) return errstr;
    if (typeof code === 'string' && CODE.test(code)) return code;
    const [, word = ''] = REPLY.test(classOf(error) ?? '') ? (/^(\w+) /.exec(message) ?? []) : [];
    if (word !== 'ERR' && CODE.test(word)) return word;
    if (errors.length < 16) {
      const more = [cause, lastNodeError, ...(Array.isArray(several) ? several.slice(0, 4) : [])];
      errors.push(...more.filter((one) => one instanceof Object));
    }
  }
  return undefined;
}

function classOf(error: unknown): string | undefined {
  const { constructor: made } = Object(error);
  return /^\w{1,60}$/.test(made?.name) ? made.name : undefined;
}
