import type { Refused as Refusal } from '../documents.js';
import type { SealwaxErrorCode } from '../error.js';
import type { Principal } from '../principal.js';
import type { Accepted } from './accept.js';

/** A refusal or a failure to seal, for the server's log only. */
export interface Refused {
  /**
   * The reason: a code of {@link SealwaxError}, or a verdict or failure of {@link Accept} or the {@link Ledger}.
   * `ledger_unconfirmed` is not a refusal: no replica of the store confirmed an end or a revocation.
   */
  readonly code:
    | SealwaxErrorCode
    | 'invalid_request'
    | 'unauthenticated'
    | 'not_accepted'
    | 'accept_unavailable'
    | 'used'
    | 'ended'
    | 'revoked'
    | 'unknown'
    | 'stale'
    | 'ledger_unavailable'
    | 'ledger_unconfirmed';
  /** The kind of the token. */
  readonly kind: Accepted['kind'];
  /** The token id, or the ulid of a handle or session, if it is readable. It is verified only if the token opened. */
  readonly tokenId?: string;
  /** The method of the request, if there is one. */
  readonly method?: string;
  /** The tool, the prompt or the resource of the request, as the client named it. */
  readonly target?: string;
  /** The caller, if known. */
  readonly principal?: Principal;
  /** The expected and the found value. It contains no token, key or payload. */
  readonly message: string;
  /** The value that one of the application's functions threw, if that is the reason. */
  readonly cause?: unknown;
}

/** The receivers of refusals. */
export interface Listener {
  readonly onRefused: ((event: Refused) => unknown) | undefined;
  readonly logger: { warn(message: string): void };
}

/** Reports a refusal, with what the engine does not know of it. */
export function report(
  listener: Listener,
  refusal: Pick<Refusal, 'code' | 'kind' | 'id' | 'target' | 'message'>,
  method?: unknown,
  principal?: Principal,
  cause?: unknown,
): void {
  const { kind, id: tokenId, target } = refusal;
  const code = refusal.code as Refused['code'];
  const names = [method, target].filter((name) => typeof name === 'string');
  // A mistake of the application belongs to no method.
  const isWhere = names.length > 0 && code !== 'invalid_argument';
  const where = isWhere ? `${names.map(quoted).join(' ')}: ` : '';
  // It may contain text of others.
  const message = where + ascii(refusal.message.slice(0, 500));
  const id = tokenId ? ` ${tokenId}` : '';
  quietly(() => listener.logger.warn(`sealwax: ${kind}${id}: ${code}: ${message}`));
  quietly(() =>
    listener.onRefused?.({
      ...{ code, kind, message },
      ...(tokenId && { tokenId }),
      ...(typeof method === 'string' && { method }),
      ...(typeof target === 'string' && { target }),
      ...(principal && { principal }),
      ...(cause !== undefined && { cause }),
    }),
  );
}

/** Reports an error of the application, or of this side, in a transport. */
export function reportError(listener: Listener, message: string, cause: unknown): void {
  const refusal = { code: 'invalid_argument', kind: 'session', message } as const;
  report(listener, refusal, undefined, undefined, cause);
}

/** Runs a function and ignores its errors, which must not change the answer. */
export async function quietly(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // The logger itself failed.
  }
}

/** Quotes a client's text for logs and messages: its first 64 characters, as an ASCII JSON string. */
export function quoted(text: string): string {
  return ascii(JSON.stringify(Array.from(text.slice(0, 128)).slice(0, 64).join('')));
}

function ascii(text: string): string {
  return text.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
