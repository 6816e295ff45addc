import { Caller } from '../caller.js';
import type { Connection, Engine, Exchange } from '../engine.js';
import { referenced } from '../handler/reference.js';
import { reportError } from '../hooks.js';
import type { Known, Policy } from '../policy.js';
import { cancelled } from './message.js';

/** Reads a line as the SDK does, and throws where that does. */
export type Read = (line: string) => unknown;

/** The connection of one client on stdio, with the sessions of SEP-1359. */
export class StdioConnection {
  readonly #policy: Policy;
  readonly #connection: Connection;
  readonly #send: (line: string) => void;
  readonly #reads: Promise<Read>;
  /** What names requests to the guard at the SDK's messages, by their ids. */
  readonly #references = new Map<unknown, string>();
  /** Takes the SDK's answer to a session that is replayed to it. */
  #replayed: ((answer: string | undefined) => void) | undefined;

  constructor(policy: Policy, engine: Engine, send: (line: string) => void, reads: Promise<Read>) {
    this.#policy = policy;
    this.#connection = engine.connection();
    this.#send = send;
    this.#reads = reads;
  }

  /** Yields the lines for the SDK, for one of the client's. */
  async *enter(line: Uint8Array): AsyncGenerator<string> {
    let exchange: Exchange | undefined;
    try {
      exchange = this.#connection.line(line);
      const caller = new Caller(this.#policy, {}, {});
      let step = await caller.drive(exchange);
      if (step.step === 'ask') {
        const answered = new Promise<string | undefined>((done) => {
          this.#replayed = done;
        });
        yield exchange.text as string;
        const value = await answered;
        step = await caller.drive(exchange, exchange.told(value === undefined ? {} : { value }));
      }
      if (step.step === 'deliver') {
        const text = exchange.text as string;
        const { principal } = caller;
        const { withinMs, id: sessionId } = step;
        if (await this.#isRead(text)) {
          yield principal ? this.#named(text, { principal, withinMs, sessionId }) : text;
          return;
        }
        const broke = 'message: expected one that the SDK reads';
        step = await caller.drive(exchange, exchange.on({ broke }));
        // What nobody is answered the SDK reports; what stands before is the guard's own.
        const own = lastOf(text) - 1;
        if (step.step === 'drop') yield text;
        else if (own > 0) yield text.slice(0, own);
      }
      if (exchange.text !== undefined) this.#send(exchange.text);
    } catch (cause) {
      this.#failed(cause);
    } finally {
      exchange?.free();
    }
  }

  /** Whether the SDK can read the last of some lines: nobody would hear of it. */
  async #isRead(lines: string): Promise<boolean> {
    const read = await this.#reads;
    try {
      read(lines.slice(lastOf(lines)));
      return true;
    } catch {
      return false;
    }
  }

  /** Tells the guard at the SDK's messages what is known of the last of some lines. */
  #named(lines: string, known: Known): string {
    const at = lastOf(lines);
    const message = JSON.parse(lines.slice(at));
    this.#forget(cancelled(message));
    const named = referenced(message, known, this.#policy, (reference, id) => {
      this.#references.set(id, reference);
    });
    return named === message ? lines : lines.slice(0, at) + JSON.stringify(named);
  }

  /** Sends a message of the SDK. */
  async leave(line: string): Promise<void> {
    let exchange: Exchange | undefined;
    try {
      exchange = this.#connection.leaves(line);
      const step = await new Caller(this.#policy, {}, {}).drive(exchange);
      if (step.step === 'replayed') this.#replayed?.(exchange.text);
      else if (exchange.text !== undefined) this.#send(exchange.text);
      if (this.#references.size > 0) this.#answered(JSON.parse(line));
    } catch (cause) {
      this.#failed(cause);
    } finally {
      exchange?.free();
    }
  }

  #answered({ id, method }: { readonly id?: unknown; readonly method?: unknown }): void {
    if (method === undefined) this.#forget(id);
  }

  #forget(id: unknown): void {
    this.#policy.known.delete(this.#references.get(id));
    this.#references.delete(id);
  }

  /** Drops the requests in progress. */
  close(): void {
    this.#replayed?.(undefined);
    for (const id of this.#references.keys()) this.#forget(id);
    this.#connection.free();
  }

  #failed(cause: unknown): void {
    const message = 'stdio: expected a message that can be served, found an error';
    reportError(this.#policy, message, cause);
  }
}

/** Returns where the last line begins. */
function lastOf(lines: string): number {
  return lines.lastIndexOf('\n') + 1;
}
