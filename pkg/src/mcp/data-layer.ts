/** The gate of data-layer sessions: the metadata that a request has in `_meta`, and its result. */

import type { JSONRPCNotification, JSONRPCResponse } from '@modelcontextprotocol/server';
import type { Profile } from '../answer.js';
import { SealwaxError } from '../error.js';
import { json } from '../input.js';
import type { Lifetime } from '../lifetime.js';
import type { View } from '../view.js';
import type { Call } from './call.js';
import type { Caller } from './caller.js';
import type { Checks, Facts } from './checks.js';
import type { Gate } from './gates.js';
import {
  metadataOf,
  PROTOCOL_VERSION,
  SESSIONS_CREATE,
  SESSIONS_DELETE,
  withMetadata,
} from './metadata.js';
import { quoted } from './quoted.js';
import { bytes, type Metadata, Session, type Verified } from './session.js';
import type { Passage, RequestContext } from './transport.js';

/** What is known where a session begins. */
export interface Beginning extends RequestContext {
  /** The parameters of `sessions/create`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** What the author said of the sessions, checked. */
export interface SessionPolicy {
  /** The first value; `undefined` where the server holds what belongs to a session. */
  readonly initial: ((beginning: Beginning) => unknown) | undefined;
  readonly life: Lifetime;
  readonly required: (method: string, tool: unknown) => boolean;
}

const DECLARING = ['initialize', 'server/discover'];

/** The lists, which are the same for all. */
export function isList(method: string): boolean {
  return method.endsWith('/list');
}

export class DataLayer implements Gate {
  readonly #checks: Checks;
  readonly #policy: SessionPolicy;
  readonly #sessions = new WeakMap<Call, Session>();
  readonly #created = new WeakMap<Call, Metadata>();

  constructor(checks: Checks, policy: SessionPolicy) {
    this.#checks = checks;
    this.#policy = policy;
  }

  /** What the methods of the draft give, once they have entered. */
  get methods(): Readonly<Record<string, (call: Call) => Record<string, unknown>>> {
    return {
      [SESSIONS_CREATE]: (call) => ({ session: this.#created.get(call) }),
      ...(this.#checks.remembers && { [SESSIONS_DELETE]: () => ({}) }),
    };
  }

  /** The session that a handler sees: lists do not depend on one, though it is verified. */
  of(call: Call): Session | undefined {
    return isList(call.request.method) ? undefined : this.#sessions.get(call);
  }

  /** Whether the result of a request has a session in it. */
  has(call: Call): boolean {
    return this.#sessions.has(call);
  }

  enter(call: Call): Passage | Promise<Passage> {
    const { method, params } = call.request;
    const sent = metadataOf(params);
    if (method === SESSIONS_CREATE) return this.#create(call, sent);
    if (sent !== undefined) return mismatch(call, sent) ?? this.#enterWith(call, sent);
    if (this.#deletes(method) || this.#policy.required(method, call.param('name'))) {
      const error = new SealwaxError('malformed', `${quoted(method)}: expected a session`, true);
      return this.#refused('data-layer-required', call, error);
    }
    return { deliver: call.request };
  }

  async #create(call: Call, sent: unknown): Promise<Passage> {
    const { request, context } = call;
    if (sent !== undefined) {
      // It is no refusal of the session, which may well be good.
      const message = 'Invalid params: sessions/create has no session';
      return { answer: call.refuse({ error: { code: -32602, message } }) };
    }
    try {
      const { view } = await call.who();
      this.#created.set(
        call,
        await this.#begin(view, { ...context, params: request.params ?? {} }),
      );
      return { deliver: request };
    } catch (error) {
      return { answer: call.refuse(this.#checks.unsealed('data-layer', call, 'session', error)) };
    }
  }

  async #begin(view: View, beginning: Beginning): Promise<Metadata> {
    const { initial } = this.#policy;
    if (initial !== undefined) {
      return this.#of(view).create(bytes(json('initial', await initial(beginning))));
    }
    return this.#of(view).mint();
  }

  async #enterWith(call: Call, sent: unknown): Promise<Passage> {
    try {
      if (this.#deletes(call.request.method)) await this.#end(call, sent);
      else this.#sessions.set(call, await this.#admit(call, sent));
      return { deliver: call.request };
    } catch (error) {
      return this.#refused('data-layer', call, error, sent);
    }
  }

  #deletes(method: string): boolean {
    return method === SESSIONS_DELETE && this.#checks.remembers;
  }

  /** Its id alone suffices: a client may have lost the state of what it wants gone. */
  async #end(call: Call, sent: unknown): Promise<void> {
    const { ulid, endsAtMs } = await this.#checks.admit(
      call,
      'session',
      Object(sent).sessionId,
      (view, id) => this.#of(view).verify(id),
      facts,
    );
    await this.#checks.ended(call, 'session', facts({ ulid, endsAtMs }));
  }

  async #admit(caller: Caller, sent: unknown): Promise<Session> {
    const open = (view: View, id: string): Verified & { readonly endsAtMs: number | undefined } => {
      const sessions = this.#of(view);
      const { ulid, endsAtMs } = sessions.verify(id);
      const opened = this.#policy.initial && sessions.open(sent);
      return { id, ulid, endsAtMs, sessions, opened };
    };
    const { sessionId } = Object(sent);
    const verified = await this.#checks.admit(caller, 'session', sessionId, open, facts);
    return new Session(verified, verified.opened?.json());
  }

  leave(call: Call, response: JSONRPCResponse): JSONRPCResponse {
    if (!('result' in response)) return response;
    let { result } = response;
    if (DECLARING.includes(call.request.method)) result = { ...result, ...declared(result) };
    const session = this.#sessions.get(call);
    try {
      if (session !== undefined) result = withMetadata(result, Session.seal(session));
    } catch (error) {
      return call.refuse(this.#checks.unsealed('data-layer', call, 'session', error));
    }
    return { ...response, result };
  }

  left(call: Call): void {
    const session = this.#sessions.get(call);
    if (session !== undefined) Session.end(session);
  }

  /** Whether a notification may pass. Nothing answers one: it is dropped, or it is not. */
  notified({ params }: JSONRPCNotification, callerOf: () => Caller): boolean | Promise<boolean> {
    const sent = metadataOf(params);
    return sent === undefined || this.#admitted(callerOf(), sent);
  }

  async #admitted(caller: Caller, sent: unknown): Promise<boolean> {
    try {
      Session.end(await this.#admit(caller, sent));
      return true;
    } catch (error) {
      this.#checks.refused('data-layer', caller, 'session', error, Object(sent).state);
      return false;
    } finally {
      caller.done();
    }
  }

  #refused(profile: Profile, call: Call, error: unknown, sent?: unknown): Passage {
    const { sessionId, state } = Object(sent);
    const echoed = typeof sessionId === 'string' ? sessionId : undefined;
    const answer = this.#checks.refused(profile, call, 'session', error, state, echoed);
    return { answer: call.refuse(answer) };
  }

  #of(view: View) {
    return view.sessions(this.#policy.life);
  }
}

/**
 * Over HTTP, the header says the same id as the body, or is not there. Told at once, so that the
 * SDK makes a 400 of it. In earlier revisions the header is the transport's own.
 */
function mismatch(call: Call, sent: unknown): Passage | undefined {
  const { http } = call.context;
  const header = http?.req?.headers.get('mcp-session-id') ?? undefined;
  const isLegacy = Object(call.param('_meta'))[PROTOCOL_VERSION] === undefined;
  if (header === undefined || isLegacy || header === Object(sent).sessionId) return undefined;
  const message = 'Header mismatch: Mcp-Session-Id is not the session of the body';
  return { answer: call.refuse({ error: { code: -32020, message } }) };
}

/** A session is known by its ulid, and can be had until its id has ended. */
function facts(verified: { readonly ulid: string; readonly endsAtMs: number | undefined }): Facts {
  const { ulid: id, endsAtMs } = verified;
  return { id, endsAt: endsAtMs && endsAtMs / 1000 };
}

function declared({ capabilities }: Readonly<Record<string, unknown>>) {
  const { experimental } = Object(capabilities);
  const both = { sessions: {}, experimental: { ...experimental, sessions: {} } };
  return { capabilities: { ...Object(capabilities), ...both } };
}
