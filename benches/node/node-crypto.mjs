// What an engineer would write by hand for one service: AES-256-GCM by node:crypto, synchronous,
// bound to the same things as ours. One key, no rotation, no commitment to the key.
//
//   base64url(expiry in Unix seconds, 6 bytes ‖ nonce 12 ‖ ciphertext ‖ tag 16)

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const EXPIRY = 6;
const NONCE = 12;
const TAG = 16;
const HEADER = EXPIRY + NONCE;

export class NodeCryptoCodec {
  #key;
  #ttl;

  constructor(key, ttl) {
    this.#key = key;
    this.#ttl = ttl;
  }

  /** `bindings` is the principal, the audience and the request in bytes that cannot be confused. */
  seal(payload, bindings) {
    const token = Buffer.allocUnsafe(HEADER + payload.length + TAG);
    token.writeUIntBE(Math.floor(Date.now() / 1000) + this.#ttl, 0, EXPIRY);
    const nonce = randomBytes(NONCE);
    token.set(nonce, EXPIRY);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    // The expiry first, for its length is fixed.
    cipher.setAAD(Buffer.concat([token.subarray(0, EXPIRY), bindings]));
    token.set(cipher.update(payload), HEADER);
    cipher.final();
    token.set(cipher.getAuthTag(), HEADER + payload.length);
    return token.toString('base64url');
  }

  open(text, bindings) {
    const token = Buffer.from(text, 'base64url');
    if (token.length < HEADER + TAG) throw new Error('malformed');
    const nonce = token.subarray(EXPIRY, HEADER);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG });
    decipher.setAAD(Buffer.concat([token.subarray(0, EXPIRY), bindings]));
    decipher.setAuthTag(token.subarray(-TAG));
    const payload = decipher.update(token.subarray(HEADER, -TAG));
    decipher.final(); // throws where the tag does not match
    if (token.readUIntBE(0, EXPIRY) <= Date.now() / 1000) throw new Error('expired');
    return payload;
  }
}
