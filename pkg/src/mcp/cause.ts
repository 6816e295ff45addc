import { TimeoutError } from './later.js';

/** The form of codes, such as `ECONNREFUSED`; no other text of an error is named. */
const CODE = /^[A-Z][A-Z0-9_]{2,40}$/;
/** The errors with which clients of Redis pass a reply on: its first word is a code, but `ERR` says nothing. */
const REPLY = /^(?:ReplyError|ErrorReply|SimpleError|BlobError|UpstashError)$/;

/**
 * Describes for the log why a function of the application, or a store, did not answer: by the code and the class of the
 * error, or of what caused it. The message of an error may contain a credential, so it is not used.
 */
export function failure(error: unknown): string {
  if (error instanceof TimeoutError) return 'expected an answer in time, found none';
  return `expected an answer, found ${nameOf(error)}`;
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
