/**
 * Nonces drawn in bursts, in Node only: there each draw calls OpenSSL's generator, which takes 39 % of the
 * time to seal 64 bytes. Elsewhere the module draws a nonce for each token.
 */

/** The length of a nonce in bytes. */
export const NONCE = 24;

/** The number of nonces drawn at once. */
const BURST = 128;

const pool = new Uint8Array(BURST * NONCE);
let used = pool.length;
let moment = 0;

const inNode = isNode();

/**
 * Writes a nonce into the memory and returns its length; returns 0 if the module is to draw its own.
 *
 * The first token of a millisecond draws its own. After a second one more are likely, so a burst is
 * drawn. The rest of it is wiped at the next millisecond, so that a snapshot of the process or the
 * machine can repeat few nonces. A nonce is wiped when it is used.
 */
export function drawNonce(memory: Uint8Array, at: number): number {
  if (!inNode) return 0;
  const now = Date.now();
  if (now !== moment) {
    moment = now;
    pool.fill(0, used);
    used = pool.length;
    return 0;
  }
  if (used === pool.length) {
    try {
      crypto.getRandomValues(pool);
    } catch {
      // The module fails at it too, and says so.
      pool.fill(0);
      return 0;
    }
    // A stub of a generator that writes nothing leaves what was wiped. That, too, the module says.
    if (pool.subarray(0, NONCE).every((byte) => byte === 0)) return 0;
    used = 0;
  }
  for (let to = at; to < at + NONCE; to++) {
    memory[to] = pool[used] as number;
    pool[used++] = 0;
  }
  return NONCE;
}

/** Fills an array of the module's memory with a nonce: for a token that the module seals by itself. */
export function fillNonce(bytes: Uint8Array<ArrayBuffer>): void {
  if (drawNonce(bytes, 0) === 0) crypto.getRandomValues(bytes);
}

/** Whether this is Node: other runtimes also report themselves as Node. */
export function isNode(): boolean {
  const { process, navigator } = globalThis as {
    process?: { release?: { name?: string }; versions?: Record<string, string | undefined> };
    navigator?: { userAgent?: string };
  };
  return (
    process?.release?.name === 'node' &&
    process.versions?.bun === undefined &&
    process.versions?.deno === undefined &&
    navigator?.userAgent !== 'Cloudflare-Workers'
  );
}
