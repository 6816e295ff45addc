/** The gate for what requests and their results carry: `requestState`, and cursors. */

import type { JSONRPCResponse } from '@modelcontextprotocol/server';
import { invalidArgument, SealwaxError } from '../error.js';
import type { Carried } from '../facts.js';
import { text } from '../input.js';
import type { Opened } from '../opened.js';
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

  constructor(
    checks: Checks,
    ttl: number | undefined,
    only: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#checks = checks;
    this.#ttl = ttl;
    this.#only = only;
  }

  enter(call: Call): Passage | Promise<Passage> {
    const { carried, request } = call;
    if (carried === undefined) return { deliver: request };
    const token = call.param(carried.param);
    if (carried.kind === 'request-state') {
      this.#bindings.set(call, binding(call, this.#only));
      // Its handler may give a state to somebody, so it must be known who that is.
      const asked = call.who();
      if (token === undefined && call.principal !== undefined) return { deliver: request };
      return this.#open(call, carried, token, asked);
    }
    if (token === undefined) return { deliver: request };
    return this.#open(call, carried, token);
  }

  async #open(
    call: Call,
    carried: Carried,
    token: unknown,
    asked?: Promise<unknown>,
  ): Promise<Passage> {
    const { request } = call;
    try {
      await asked;
      if (token === undefined) return { deliver: request };
      const opened = await this.#checks.admit(
        call,
        carried.kind,
        token,
        (view, token) => this.#sealer(call, carried, view).open(token),
        ({ tokenId: id, expiresAt }) => ({ id, expiresAt: expiresAt ?? null }),
      );
      const params = { ...request.params, [carried.param]: plain(opened) };
      return { deliver: { ...request, params } };
    } catch (error) {
      const refused = this.#checks.refused(carried.kind, call, carried.kind, error, token);
      return { answer: call.refuse(refused) };
    }
  }

  async leave(call: Call, response: JSONRPCResponse): Promise<JSONRPCResponse> {
    const { carried } = call;
    try {
      if (carried === undefined || !('result' in response)) return response;
      const given = leaving(carried, response.result);
      if (given === undefined) return response;
      const { view } = await call.who();
      const payload = new TextEncoder().encode(text(carried.result, given));
      const life = carried.kind === 'request-state' ? { ttl: this.#ttl } : {};
      const token = this.#sealer(call, carried, view).seal(payload, life);
      return { ...response, result: { ...response.result, [carried.result]: token } };
    } catch (error) {
      const kind = carried?.kind ?? 'request-state';
      return call.refuse(this.#checks.unsealed(kind, call, kind, error));
    }
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
  return result[member];
}

/** The text that was sealed, to the letter. */
function plain(opened: Opened): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened.payload);
  } catch {
    throw new SealwaxError('malformed', 'expected a payload that is a text', true);
  }
}
