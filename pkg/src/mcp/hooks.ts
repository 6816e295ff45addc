import type {
  Fault,
  Item,
  TokenEvent as WrittenEvent,
  Refused as WrittenRefusal,
} from '../documents.js';
import type { SealwaxErrorCode } from '../error.js';
import { type Logger, write } from '../log.js';
import type { Principal } from '../principal.js';
import { nameOf } from './cause.js';
import { attempt } from './later.js';

/** What a refusal and an event tell of the message and its sender. */
interface Circumstances {
  /** The kind of the token: `handle` is a reference handle, `handle-state` a self-contained one. */
  readonly kind: Item;
  /** The token id, or the ulid of a handle or session, if it is readable: 32 hex digits. */
  readonly id?: string | undefined;
  /** The method of the request, if there is one. */
  readonly method?: string | undefined;
  /** Whether the method is none of the protocol's: a client may have made it up. */
  readonly customMethod?: boolean | undefined;
  /** The tool, the prompt or the resource of the request, as the client named it. */
  readonly target?: string | undefined;
  /** The parts of the caller, if it is known and not anonymous. */
  readonly issuer?: string | undefined;
  readonly client?: string | undefined;
  readonly subject?: string | undefined;
}

/** A refusal or a failure to seal, for the server's log only. */
export interface Refusal extends Circumstances {
  /** When it was refused, such as `2026-07-28T12:00:00.000Z`. */
  readonly time: string;
  /** `error` is a fault of the service or its store. */
  readonly level: 'warn' | 'error';
  /**
   * The reason: a code of {@link SealwaxError}, or a verdict or failure of the {@link Ledger}.
   * `ledger_unconfirmed` is not a refusal: no replica of the store confirmed an end or a revocation.
   */
  readonly code:
    | SealwaxErrorCode
    | 'invalid_request'
    | 'unauthenticated'
    | 'used'
    | 'ended'
    | 'revoked'
    | 'unknown'
    | 'stale'
    | 'ledger_unavailable'
    | 'ledger_unconfirmed'
    | 'unconfirmed';
  /** The caller, if known. */
  readonly principal?: Principal | undefined;
  /** The expected and the found value. It contains no token, key or payload. */
  readonly message: string;
  /** The value that one of the application's functions threw, if that is the reason. */
  readonly cause?: unknown;
}

/** What happened to a token that was not refused. */
export interface TokenEvent extends Circumstances {
  /**
   * `opened` passed every check, that of the `ledger` too; `sealed` is in an answer; `ended` and `revoked` are recorded.
   */
  readonly event: 'opened' | 'sealed' | 'ended' | 'revoked';
  /** The id of the key, 8 hex digits. A reference handle names none. */
  readonly keyId?: string | undefined;
  /** How many seconds ago an opened one was issued. */
  readonly age?: number | undefined;
  /**
   * The microseconds since its message, or the handler's result or call, came to the guard, with what `principal`
   * and the `ledger` took. In Cloudflare Workers clocks stand still while a program works, so only waiting counts.
   */
  readonly micros: number;
}

/** Functions of the application that the guard calls at once; it waits for none. */
export interface Hooks {
  onRefused(refused: Refusal): void;
  onEvent(event: TokenEvent): void;
}

/** Where a guard reports to. */
export interface Listener {
  readonly onRefused: Hooks['onRefused'] | undefined;
  readonly onEvent: Hooks['onEvent'] | undefined;
  readonly logger: Logger;
  readonly engine: { report(fault: Fault): WrittenRefusal };
}

/** Reports a refusal of the engine. */
export function report(
  listener: Listener,
  { line, ...fields }: WrittenRefusal,
  principal?: Principal,
  cause?: unknown,
): void {
  write(listener.logger, line, fields);
  const { onRefused } = listener;
  if (onRefused === undefined) return;
  const told = { ...fields, code: fields.code as Refusal['code'] };
  const more = { ...(principal && { principal }), ...(cause !== undefined && { cause }) };
  called(listener, 'onRefused', () => onRefused({ ...told, ...more }));
}

/** Reports an event of the engine, which has a listener if it gives any. */
export function observe(listener: Listener, event: WrittenEvent, micros: number): void {
  called(listener, 'onEvent', () => listener.onEvent?.({ ...event, micros }));
}

/** Reports an error that this side found; without a fault's other members, one of a transport. */
export function reportError(
  listener: Listener,
  fault: Partial<Fault> & Pick<Fault, 'message'>,
  cause: unknown,
  principal?: Principal,
): void {
  report(listener, listener.engine.report({ ...FAULT, ...fault }), principal, cause);
}

const FAULT = { code: 'invalid_argument', kind: 'session' } as const;

/** Calls a hook. An error of it changes no answer. */
function called(listener: Listener, name: string, hook: () => unknown): void {
  const threw = (cause: unknown) => {
    const message = `${name}: expected a function that does not throw, found ${nameOf(cause)}`;
    const { line, ...fields } = listener.engine.report({ ...FAULT, message });
    write(listener.logger, line, fields);
  };
  attempt(hook, () => {}, threw);
}
