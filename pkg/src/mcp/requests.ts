/** The gate for what requests and their results carry: `requestState`, and cursors. */

import type { JSONRPCResponse } from '@modelcontextprotocol/server';
import { invalidArgument, SealwaxError } from '../error.js';
import type { Carried } from '../facts.js';
import { text } from '../input.js';
import type { Opened } from '../opened.js';
import { anonymous } from '../principal.js';
import type { Sealer } from '../sealer.js';
import type { View } from '../view.js';
import { binding } from './binding.js';
import type { Call } from './call.js';
import type { Checks } from './checks.js';
import type { Gate } from './gates.js';
import type { Passage } from './transport.js';

export class Requests implements Gate {
  readonly #checks: Checks;
  readonly #ttl: number | undefined;
  readonly #only: ReadonlyMap<string, readonly string[]>;
  readonly #bindings = new WeakMap<Call, () => Uint8Array>();
  readonly #states = new WeakMap<Call, string>();
  #anonymous: View | undefined;

  constructor(
    checks: Checks,
    ttl: number | undefined,
    only: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#checks = checks;
    this.#ttl = ttl;
    this.#only = only;
  }

  /**
   * The state that came with a call, if one did, as it was opened here.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a method that carries none
   */
  state(call: Call): string | undefined {
    call.assertState();
    return this.#states.get(call);
  }

  enter(call: Call): Passage | Promise<Passage> {
    const { carried } = call;
    if (carried === undefined) return { deliver: call.request };
    const token = call.param(carried.param);
    const without = { deliver: call.requestWith(carried.param, undefined) };
    if (carried.kind === 'request-state') {
      this.#bindings.set(call, binding(call, this.#only));
      // Its handler may give a state to somebody, so it must be known who that is.
      const asked = call.who();
      if (token === undefined && call.known !== undefined) return without;
      return this.#open(call, carried, token, asked);
    }
    return token === undefined ? without : this.#open(call, carried, token);
  }

  async #open(
    call: Call,
    carried: Carried,
    token: unknown,
    asked?: Promise<unknown>,
  ): Promise<Passage> {
    const { kind, param } = carried;
    try {
      await asked;
      if (token === undefined) return { deliver: call.requestWith(param, undefined) };
      const opened = await this.#checks.admit(
        call,
        kind,
        token,
        (view, token) => this.#opened(call, carried, view, token),
        ({ tokenId: id, expiresAt: endsAt }) => ({ id, endsAt }),
      );
      const given = plain(opened);
      if (kind === 'cursor') return { deliver: call.requestWith(param, given) };
      // Its handler has it from here, and not from what the SDK makes of a message.
      this.#states.set(call, given);
      return { deliver: call.requestWith(param, undefined) };
    } catch (error) {
      return { answer: call.refuse(this.#checks.refused(kind, call, kind, error, token)) };
    }
  }

  /** A cursor is the user's, or everybody's, of a public page. */
  #opened(call: Call, carried: Carried, view: View, token: string): Opened {
    try {
      return this.#sealer(call, carried, view).open(token);
    } catch (error) {
      const isAnothers = error instanceof SealwaxError && error.code === 'principal_mismatch';
      if (carried.kind !== 'cursor' || !isAnothers) throw error;
      return this.#sealer(call, carried, this.#nobody).open(token);
    }
  }

  /** Caches hand a public page to anybody: so is its cursor. */
  get #nobody(): View {
    this.#anonymous ??= this.#checks.policy.codec.view(anonymous);
    return this.#anonymous;
  }

  leave(call: Call, response: JSONRPCResponse): JSONRPCResponse | Promise<JSONRPCResponse> {
    const { carried } = call;
    if (carried === undefined || !('result' in response)) return response;
    const { result } = response;
    const given = leaving(carried, result);
    if (given === undefined) return response;
    const failed = (error: unknown) =>
      call.refuse(this.#checks.unsealed(carried.kind, call, carried.kind, error));
    const seal = (view: View) => {
      try {
        const payload = new TextEncoder().encode(text(carried.result, given));
        const life = carried.kind === 'request-state' ? { ttl: this.#ttl } : {};
        const token = this.#sealer(call, carried, view).seal(payload, life);
        return { ...response, result: { ...result, [carried.result]: token } };
      } catch (error) {
        return failed(error);
      }
    };
    if (carried.kind === 'cursor' && result.cacheScope === 'public') return seal(this.#nobody);
    const asked = call.who();
    return call.known ? seal(call.known.view) : asked.then(({ view }) => seal(view), failed);
  }

  #sealer(call: Call, { kind }: Carried, view: View): Sealer<'request-state' | 'cursor'> {
    if (kind === 'cursor') return view.cursor(call.request.method);
    const context = this.#bindings.get(call);
    if (context === undefined) throw invalidArgument('request: expected one that entered');
    return view.requestState(context());
  }
}

function leaving(
  { kind, result: member }: Carried,
  result: Readonly<Record<string, unknown>>,
): unknown {
  // A complete result may have a member of this name, which is the tool's own.
  if (kind === 'request-state' && result.resultType !== 'input_required') return undefined;
  return result[member] ?? undefined;
}

/** The text that was sealed, to the letter. */
function plain(opened: Opened): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened.payload);
  } catch {
    throw new SealwaxError('malformed', 'expected a payload that is a text', true);
  }
}
