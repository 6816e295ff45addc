import { type Answer, answer, type Profile } from '../answer.js';
import type { Codec } from '../codec.js';
import { invalidArgument, SealwaxError, type SealwaxErrorCode } from '../error.js';
import { inspect } from '../inspect.js';
import type { Principal } from '../principal.js';
import type { View } from '../view.js';
import { type Accept, type Accepted, within } from './accept.js';
import type { Caller, PrincipalOf } from './caller.js';
import type { Negotiated } from './negotiated.js';
import { printable } from './quoted.js';

/** What was refused, or could not be sealed, for the author's eyes only. */
export interface Refused {
  /** Why: a code of {@link SealwaxError}, or what {@link Accept} said, or that it said nothing. */
  readonly code: SealwaxErrorCode | 'not_accepted' | 'accept_unavailable';
  /** What it was. */
  readonly kind: Accepted['kind'];
  /** The token id, or the ulid of a handle or a session, where it can be told. Verified only if it opened. */
  readonly tokenId?: string;
  /** Who presented it, where that is known. */
  readonly principal?: Principal;
  /** What was expected and what was found. It holds no token, no key and no payload. */
  readonly message: string;
  /** What a function of the author's threw, if it was that. */
  readonly cause?: unknown;
}

/** Why something that verified is refused all the same. */
class NotAccepted extends Error {
  constructor(
    readonly code: 'not_accepted' | 'accept_unavailable',
    message: string,
    readonly tokenId: string,
    override readonly cause?: unknown,
  ) {
    super(message);
  }
}

/** What {@link Accept} is asked for, of something opened. */
export interface Facts {
  readonly id: string;
  /** In Unix seconds, and parts of one; `undefined` for no end. */
  readonly endsAt: number | undefined;
}

/** What is known of an HTTP request whose session was opened. */
export interface Known {
  readonly negotiated: Negotiated;
  readonly principal: Principal;
}

/** What a guard was told, checked. */
export interface Policy {
  readonly codec: Codec;
  readonly principalOf: PrincipalOf;
  /** Requests whose sender was asked for already, when the session was opened. */
  readonly known: WeakMap<Request, Known>;
  readonly accept: Accept | undefined;
  readonly acceptTimeout: number;
  readonly onRefused: ((event: Refused) => unknown) | undefined;
  readonly logger: { warn(message: string): void };
}

/** What every token goes through, whichever way it came. */
export class Checks {
  readonly policy: Policy;

  constructor(policy: Policy) {
    this.policy = policy;
  }

  /** Whether an end is remembered. What nothing remembers is not promised. */
  get remembers(): boolean {
    return this.policy.accept !== undefined;
  }

  /**
   * Opens what came, and asks whether it is accepted. Whoever gets its result may trust it.
   *
   * @throws whatever refuses it; {@link Checks.refused} takes that
   */
  async admit<T>(
    caller: Caller,
    kind: Accepted['kind'],
    token: unknown,
    open: (view: View, token: string) => T,
    facts: (opened: T) => Facts,
  ): Promise<T> {
    const { view, principal } = await caller.who();
    const opened = open(view, wire(token));
    const { accept } = this.policy;
    if (accept !== undefined) {
      const verified = acceptedOf(kind, facts(opened), principal);
      const accepted = await this.#asked(verified.id, async () => {
        const said = await accept.accept(verified);
        if (typeof said !== 'boolean') throw new TypeError('accept: expected true or false');
        return said;
      });
      if (!accepted) throw new NotAccepted('not_accepted', 'accept: said no', verified.id);
    }
    return opened;
  }

  /**
   * Opens what came, and tells that it ends.
   *
   * @throws whatever refuses it, or fails; {@link Checks.refused} takes that
   */
  async end<T>(
    caller: Caller,
    kind: Accepted['kind'],
    token: unknown,
    open: (view: View, token: string) => T,
    facts: (opened: T) => Facts,
  ): Promise<void> {
    if (!this.remembers) {
      throw invalidArgument('end: expected a guard with the option accept, which remembers it');
    }
    const { view } = await caller.who();
    await this.ended(caller, kind, facts(open(view, wire(token))));
  }

  /**
   * Tells that what was verified ends, whoever remembers it.
   *
   * @throws where `accept` fails; {@link Checks.refused} takes that
   */
  async ended(caller: Caller, kind: Accepted['kind'], facts: Facts): Promise<void> {
    const { accept } = this.policy;
    if (accept === undefined) return;
    const verified = acceptedOf(kind, facts, (await caller.who()).principal);
    await this.#asked(verified.id, () => accept.ended(verified));
  }

  /** What the author's own code throws, or is too late with, fails closed as our trouble. */
  async #asked<T>(id: string, work: () => T | PromiseLike<T>): Promise<T> {
    try {
      return await within(this.policy.acceptTimeout, work);
    } catch (cause) {
      throw new NotAccepted('accept_unavailable', 'accept: failed or was too late', id, cause);
    }
  }

  /**
   * Tells the author, and gives what to tell the client.
   *
   * @param sessionId what the client sent, for the profiles that echo it
   */
  refused(
    profile: Profile,
    caller: Caller,
    kind: Accepted['kind'],
    error: unknown,
    token?: unknown,
    sessionId?: string,
  ): Answer {
    this.#report(caller, kind, error, token);
    if (error instanceof NotAccepted) {
      return error.code === 'not_accepted' ? answer(profile, { sessionId }) : internal(profile);
    }
    return answer(profile, { error, sessionId });
  }

  /** The same of what could not be sealed, which is no client's fault. */
  unsealed(profile: Profile, caller: Caller, kind: Accepted['kind'], error: unknown): Answer {
    this.#report(caller, kind, error, undefined);
    return internal(profile);
  }

  #report(caller: Caller, kind: Accepted['kind'], error: unknown, token: unknown): void {
    // What was cancelled is no refusal.
    if (caller.isOver) return;
    const known = error instanceof SealwaxError || error instanceof NotAccepted;
    const code = known ? error.code : 'invalid_argument';
    const message = known ? printable(error.message) : 'failed';
    const cause = known ? error.cause : error;
    const tokenId = error instanceof NotAccepted ? error.tokenId : idOf(token);
    const principal = caller.known?.principal;
    const id = tokenId === undefined ? '' : ` ${tokenId}`;
    quietly(() => this.policy.logger.warn(`sealwax: ${kind}${id}: ${code}: ${message}`));
    quietly(() =>
      this.policy.onRefused?.({
        code,
        kind,
        message,
        ...(tokenId !== undefined && { tokenId }),
        ...(principal !== undefined && { principal }),
        ...(cause !== undefined && { cause }),
      }),
    );
  }
}

/** The most that the clocks of two replicas may differ: `skew` of a codec is 300 at most. */
const MOST_SKEW = 300;

function acceptedOf(kind: Accepted['kind'], { id, endsAt }: Facts, principal: Principal): Accepted {
  const expiresAt = endsAt === undefined ? null : Math.ceil(endsAt) + MOST_SKEW;
  return { kind, id, principal, expiresAt };
}

/** Runs what must not change the answer, whatever it throws, and whenever. */
async function quietly(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // There is nobody left to tell.
  }
}

/** What came is a text, or nothing of ours. */
function wire(token: unknown): string {
  if (typeof token === 'string') return token;
  throw new SealwaxError('malformed', `expected a text, found ${typeof token}`, true);
}

function internal(profile: Profile): Answer {
  return answer(profile, { error: null });
}

function idOf(token: unknown): string | undefined {
  try {
    const inspected = inspect(token as string);
    return inspected.what === 'token' ? inspected.tokenId : undefined;
  } catch {
    return undefined; // it is whatever a client made up
  }
}
