// Makes the calls of calls.py in the WASI of Node: `node engine.mjs MODULE < CALLS`.

import assert from 'node:assert/strict';
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { WASI } from 'node:wasi';

const LITTLE = true;
let exports;
let current = {};
const bytes = (at, length) => Buffer.from(exports.memory.buffer, at >>> 0, length);

const wasi = new WASI({ version: 'preview1' });
const system = wasi.wasiImport;

/** The cipher of the build that asks its host for it. */
function cipher(make, key, nonce, ad, adLength) {
  const authTagLength = 16;
  const made = make('chacha20-poly1305', bytes(key, 32), bytes(nonce, 12), { authTagLength });
  return made.setAAD(bytes(ad, adLength));
}

const imports = {
  wasi_snapshot_preview1: {
    ...system,
    // What a case says, or else what the system does.
    clock_time_get(clock, precision, at) {
      if (current.clock == null) return system.clock_time_get(clock, precision, at);
      const now = BigInt(current.clock) * 1_000_000n;
      new DataView(exports.memory.buffer).setBigUint64(at, now, LITTLE);
      return 0;
    },
    random_get(at, length) {
      const given = Buffer.from(current.random ?? '', 'hex');
      if (given.length !== length) return system.random_get(at, length);
      given.copy(bytes(at, length));
      return 0;
    },
  },
  sealwax_host: {
    seal(key, nonce, ad, adLength, body, length, tag) {
      const sealing = cipher(createCipheriv, key, nonce, ad, adLength);
      sealing.update(bytes(body, length)).copy(bytes(body, length));
      sealing.final();
      sealing.getAuthTag().copy(bytes(tag, 16));
      return 0;
    },
    open(key, nonce, ad, adLength, body, length, tag) {
      const opening = cipher(createDecipheriv, key, nonce, ad, adLength);
      opening.setAuthTag(bytes(tag, 16));
      const opened = opening.update(bytes(body, length));
      try {
        opening.final();
      } catch {
        return 1;
      }
      opened.copy(bytes(body, length));
      return 0;
    },
  },
};

const module = await WebAssembly.compile(await readFile(process.argv[2]));
const instance = await WebAssembly.instantiate(module, imports);
({ exports } = instance);
wasi.initialize(instance);

/** The memory of one case: what it allocates is freed at its end. */
class Places {
  #all = [];
  #named = {};

  take(length, name) {
    const at = exports.sealwax_alloc(length);
    assert.ok(at !== 0 && at % 16 === 0, `${at}`);
    this.#all.push([at, length]);
    if (name !== undefined) this.#named[name] = at;
    return at;
  }

  named(name, offset = 0) {
    assert.ok(name in this.#named, name);
    return this.#named[name] + offset;
  }

  argument(of) {
    if ('i32' in of) return of.i32;
    if ('i64' in of) return BigInt(of.i64);
    if ('load' in of) return bytes(this.named(of.load), 4).readInt32LE();
    if ('out' in of) {
      const at = this.take(of.out, of.as);
      bytes(at, of.out).fill(0);
      return at;
    }
    const data = Buffer.from(of.bytes, 'hex');
    for (const address of of.addresses ?? []) {
      data.writeUInt32LE(this.argument(address.of) >>> 0, address.at);
    }
    const at = this.take(data.length);
    data.copy(bytes(at, data.length));
    return at;
  }

  free() {
    for (const [at, length] of this.#all) exports.sealwax_free(at, length);
  }
}

let cases = 0;
for await (const line of createInterface({ input: process.stdin })) {
  current = JSON.parse(line);
  const places = new Places();
  for (const step of current.steps) {
    const told = `${current.name}: ${step.call ?? step.check}`;
    if (step.call === undefined) {
      const found = bytes(places.named(step.check, step.offset), step.bytes.length / 2);
      assert.equal(found.toString('hex'), step.bytes, told);
    } else {
      const returned = exports[step.call](...step.args.map((of) => places.argument(of)));
      if (step.returns != null) assert.equal(returned, step.returns, told);
    }
  }
  places.free();
  cases += 1;
}
assert.ok(cases > 300, `${cases}`);
const kilobytes = exports.memory.buffer.byteLength / 1024;
// Whatever was made has been freed: the largest document is what the memory has grown by.
assert.ok(kilobytes < 8 * 1024, `${kilobytes} kB`);
console.log(`${cases} cases in Node; ${kilobytes} kB of memory`);
