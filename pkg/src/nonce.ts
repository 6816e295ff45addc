/**
 * Nonces drawn in bursts, in Node only: there each draw calls OpenSSL's generator, which takes 39 % of the
 * time to seal 64 bytes. Elsewhere the module draws a nonce for each token.
 */

/** The length of a nonce in bytes. */
export const NONCE = 24;

/** The number of nonces drawn at once. */
const BURST = 128;

const pool = new Uint8Array(BURST * NONCE);
/** The same in words, which take a third of the time. */
const words = new Uint32Array(pool.buffer);
const WORDS = NONCE / 4;
let used = words.length;
let moment = 0;

const inNode = isNode();

/**
 * Writes a nonce into words of the memory and returns its length in bytes; returns 0 if the module is to draw its own.
 *
 * The first token of a millisecond draws its own. After a second one more are likely, so a burst is
 * drawn. The rest of it is wiped at the next millisecond, so that a snapshot of the process or the
 * machine can repeat few nonces. A nonce is wiped when it is used.
 */
export function drawNonce(memory: Uint32Array, at: number, now: number): number {
  if (!inNode) return 0;
  if (now !== moment) {
    moment = now;
    words.fill(0, used);
    used = words.length;
    return 0;
  }
  if (used === words.length) {
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
  for (let to = at; to < at + WORDS; to++) {
    memory[to] = words[used] as number;
    words[used++] = 0;
  }
  return NONCE;
}

/** A nonce between both. */
const one = new Uint32Array(WORDS);

/** Fills an array of the module's memory with a nonce: for a token that the module seals by itself. */
export function fillNonce(bytes: Uint8Array<ArrayBuffer>): void {
  if (drawNonce(one, 0, Date.now()) === 0) crypto.getRandomValues(bytes);
  else bytes.set(new Uint8Array(one.buffer));
  one.fill(0);
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
