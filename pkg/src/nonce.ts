/**
 * Nonces that are drawn in bursts, in Node alone: there a draw is OpenSSL's generator, and 39 % of
 * sealing 64 bytes. Elsewhere the module asks the host for each token.
 */

/** The bytes of a nonce. */
export const NONCE = 24;

/** So many are drawn at once. */
const BURST = 128;

const pool = new Uint8Array(BURST * NONCE);
let used = pool.length;
let moment = 0;

const inNode = isNode();

/**
 * Writes a nonce into the memory, and returns its length: 0 for none, and the module draws its own.
 *
 * The first token of a millisecond draws its own. A second one says that more will follow, and a burst
 * is drawn. What is left of it when the clock ticks is thrown away, so that little is kept that a
 * snapshot of the process or the machine could repeat. What is given away is wiped.
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
    crypto.getRandomValues(pool);
    used = 0;
  }
  for (let to = at; to < at + NONCE; to++) {
    memory[to] = pool[used] as number;
    pool[used++] = 0;
  }
  return NONCE;
}

/** Others say that they are Node, too. */
function isNode(): boolean {
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
