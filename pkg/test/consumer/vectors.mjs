// Every vector against the package as it is installed, wherever it runs: Node, a browser, workerd.
//
// The clock and the randomness have no place in the package's interface, so the vectors put
// themselves in front of those of the host.

/** The files of vectors, from the folder of this one. */
export const FILES = ['v1', 'more', 'requests'].map((name) => `vectors/${name}.json`);

/** Runs every vector of the files; throws at the first that fails, and counts those it ran. */
export async function runVectors(sealwax, files) {
  const count = {};
  for (const file of files) {
    for (const [section, check] of Object.entries(SECTIONS)) {
      for (const vector of file[section] ?? []) {
        try {
          await check(sealwax, vector, file);
        } catch (error) {
          const which = `${section}: ${JSON.stringify(vector).slice(0, 300)}`;
          throw new Error(`${which}: ${error.stack ?? error}`, { cause: error });
        }
        count[section] = (count[section] ?? 0) + 1;
      }
    }
  }
  return count;
}

/** How many vectors there are to run. */
export function countVectors(files) {
  const sections = Object.keys(SECTIONS);
  const count = (section) => files.reduce((sum, file) => sum + (file[section]?.length ?? 0), 0);
  return Object.fromEntries(sections.map((section) => [section, count(section)]));
}

const SECTIONS = {
  keys({ Key }, vector) {
    equal(Key.fromSecret(unhex(vector.secret)).toText(), vector.text);
    equal(Key.parse(vector.text).id, vector.kid);
  },

  derived({ Key }, vector) {
    if (vector.error) return refused(vector.error, () => Key.derive(vector.from));
    equal(Key.derive(vector.from).toText(), vector.text);
    equal(Key.derive(vector.from).id, vector.kid);
  },

  // Where there are variables: a browser has none.
  environments({ Codec, inspect }, vector) {
    const { process } = globalThis;
    if (process?.versions?.node === undefined) return;
    const before = process.env;
    process.env = vector.variables;
    const fromEnv = () => Codec.fromEnv({ audience: 'a' });
    try {
      // There is no such file.
      if (vector.error || vector.is_file) refused(vector.error ?? 'invalid_key', fromEnv);
      else {
        const token = fromEnv()
          .view({ anonymous: true })
          .cursor('tools/list')
          .seal(new Uint8Array());
        equal(inspect(token).keyId, vector.keys[0]);
      }
    } finally {
      process.env = before;
    }
  },

  key_rings({ KeyRing }, vector) {
    if (vector.error) return refused(vector.error, () => KeyRing.parse(vector.ring));
    equal(KeyRing.parse(vector.ring).ids.join(), vector.keys.join());
  },

  sealed(sealwax, vector, file) {
    const sealer = sealerOf(viewOf(sealwax, vector, file), vector);
    // What renewing makes of one, and one of some age, are opened alone: interop-peer.mjs renews.
    if (vector.generation === 0 && vector.age === 0) {
      const seal = () => sealer.seal(unhex(vector.payload), life(vector.ttl));
      equal(at(vector.issued_at * 1000 + 999, unhex(vector.nonce), seal), vector.token);
    }
    checkOpened(
      at(vector.issued_at * 1000, null, () => sealer.open(vector.token)),
      vector,
    );
  },

  session_ids(sealwax, vector, file) {
    const view = viewOf(sealwax, vector, file);
    const id = minting(vector, () => view.mintSessionId());
    equal(id, vector.session_id);
    const verified = minting(vector, () => view.verifySessionId(id));
    equal(verified.createdAtMs, vector.issued_at_ms);
    equal(verified.ulid, vector.ulid);
  },

  handles(sealwax, vector, file) {
    const view = viewOf(sealwax, vector, file);
    const handle = minting(vector, () => view.mintHandle(vector.type));
    equal(handle, vector.handle);
    const verified = minting(vector, () => view.verifyHandle(vector.type, handle));
    equal(verified.createdAtMs, vector.issued_at_ms);
    equal(verified.ulid, vector.ulid);
  },

  request_contexts({ requestContext, requestContextFromJson }, vector) {
    const { method, target, arguments: args, context } = vector;
    equal(hex(requestContextFromJson(method, target, args)), context);
    const value = args === '' ? undefined : JSON.parse(args);
    equal(hex(requestContext(method, target, value)), context);
  },

  request_context_reject({ requestContextFromJson }, vector) {
    const { method = 'tools/call', target = 'x', arguments: args } = vector;
    refused(vector.error, () => requestContextFromJson(method, target, args));
  },

  tokenFields({ tokenFields }, { method, tokenFields: expected }) {
    const { kind, param, result, target = null, needsCaller = false } = tokenFields(method) ?? {};
    const found = kind ? { kind, param, result, target } : null;
    equal(JSON.stringify(found), JSON.stringify(expected));
    equal(needsCaller, expected?.kind === 'request-state');
  },

  claims({ principalFromClaims }, vector) {
    const principal = () => {
      const { issuer, client, subject } = principalFromClaims(vector.claims);
      return JSON.stringify([issuer, client ?? null, subject]);
    };
    if (vector.error) return refused(vector.error, principal);
    equal(principal(), JSON.stringify(vector.principal));
  },

  // Which arguments count.
  only({ requestContext }, { arguments: args, only, same, error }) {
    const found = () => hex(requestContext('tools/call', 'x', args, { only }));
    if (error) return refused(error, found);
    equal(found(), hex(requestContext('tools/call', 'x', same)));
  },

  accept(sealwax, vector, file) {
    const opened = open(sealwax, vector, file);
    equal(opened.needsReseal, vector.expect.needs_reseal);
    if (vector.what === 'sealed') checkOpened(opened, vector.expect);
    else equal(opened.ulid, vector.expect.ulid);
  },

  reject(sealwax, vector, file) {
    if (cannotBeSaid(vector)) equal(vector.error, 'invalid_argument');
    else refused(vector.error, () => open(sealwax, vector, file));
  },
};

function checkOpened(opened, expected) {
  equal(hex(opened.payload), expected.payload);
  equal(opened.issuedAt, expected.issued_at);
  equal(opened.startedAt, Math.max(expected.issued_at - expected.age, 0));
  equal(opened.generation, expected.generation);
  equal(opened.tokenId, expected.token_id);
  equal(opened.expiresAt, expected.ttl === 0 ? undefined : expected.issued_at + expected.ttl);
}

export function open(sealwax, vector, file) {
  return at(vector.now_ms ?? vector.now * 1000, null, () => {
    const view = viewOf(sealwax, vector, file);
    const options = { maxAge: vector.max_age ?? undefined };
    switch (vector.what) {
      case 'sealed':
        return sealerOf(view, vector).open(vector.token, options);
      case 'session_id':
        return view.verifySessionId(vector.session_id, options);
      case 'handle':
        return view.verifyHandle(vector.type, vector.handle, options);
    }
  });
}

/** The view that a vector asks for: made with one key, or opened with a ring. */
function viewOf({ Codec }, vector, file) {
  const places = vector.ring ?? [vector.key];
  const keys = places.map((place) => file.keys[place].text).join(' ');
  const { anonymous, ...parts } = vector.principal;
  const named = Object.entries(parts).filter(([, part]) => part !== '');
  const principal = anonymous ? { anonymous } : Object.fromEntries(named);
  return new Codec({ keys, audience: vector.audience }).view(principal);
}

export function sealerOf(view, { kind, label, session_id, context }) {
  switch (kind) {
    case 'state':
      return view.state(session_id);
    case 'request-state':
      return view.requestState(unhex(context));
    case 'session':
      return view.session();
    case 'cursor':
      return view.cursor(label);
    case 'handle-state':
      return view.handleState(label);
    case 'custom': {
      const bindings = {};
      if (session_id) bindings.sessionId = session_id;
      if (context) bindings.context = unhex(context);
      return view.custom(label, bindings);
    }
  }
}

/** Whether a vector gives its kind a field that the kind's method has no parameter for. */
export function cannotBeSaid({ what, kind, label, session_id, context }) {
  if (what !== 'sealed' || kind === 'custom') return false;
  const own = {
    state: 'session_id',
    'request-state': 'context',
    cursor: 'label',
    'handle-state': 'label',
  }[kind];
  const fields = Object.entries({ label, session_id, context });
  return fields.some(([field, value]) => field !== own && value !== '');
}

function life(ttl) {
  return ttl === 0 ? { noExpiry: true } : { ttl };
}

/** Acts at a time, and with the given randomness where there is some, once the time is mixed in. */
export function at(nowMs, random, act) {
  const { now } = Date;
  const { now: sinceStart } = performance;
  const { getRandomValues } = crypto;
  Date.now = () => nowMs;
  if (random !== null) {
    performance.now = () => 0;
    const time = new DataView(new ArrayBuffer(random.length));
    time.setBigUint64(0, BigInt(nowMs) * 1_000_000n, true);
    const drawn = random.map((byte, place) => byte ^ time.getUint8(place));
    crypto.getRandomValues = (bytes) => bytes.set(drawn);
  }
  try {
    return act();
  } finally {
    Date.now = now;
    if (random !== null) {
      performance.now = sinceStart;
      crypto.getRandomValues = getRandomValues;
    }
  }
}

/** The time and the ten random bytes of the vector's ulid. */
function minting(vector, act) {
  return at(vector.issued_at_ms, unhex(vector.ulid).slice(6), act);
}

function refused(code, act) {
  let outcome;
  try {
    outcome = act();
  } catch (error) {
    if (error.code === undefined) throw error;
    return equal(error.code, code);
  }
  throw new Error(`expected ${code}, found ${JSON.stringify(outcome)}`);
}

function equal(found, expected) {
  if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
}

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function unhex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
