// What compiles, and what must not. The .cts file beside it is the same for CommonJS.

import {
  anonymous,
  answer,
  Codec,
  KeyRing,
  type Opened,
  type Principal,
  requestContext,
  SealwaxError,
  type SealwaxErrorCode,
} from 'sealwax';

const codec = new Codec({ keys: KeyRing.parse(''), audience: 'a', clockTolerance: 30 });
const alice = codec.view({ subject: 'alice', issuer: undefined });
const payload = new Uint8Array();

const cursor = alice.cursor('tools/list');
const token: string = cursor.seal(payload, { ttl: 60 });
const opened: Opened<'cursor'> = cursor.open(token, { maxAge: 60 });
const page = opened.json<{ page: number }>().page;
const end: number | undefined = opened.expiresAt;
cursor.renew(opened, payload, { noExpiry: true });
alice.custom('x', { context: requestContext('tools/call', 'x') }).sealJson({ page, end });

const session = alice.sessions().open({ anything: 'that came' });
alice.state(session.id).renew(session, payload);
const principal: Principal = anonymous;
using nobody = codec.view(principal);
codec.view({ anonymous: true });
nobody.mintSessionId();
answer('cursor', { error: new Error('any') });

declare const error: unknown;
if (error instanceof SealwaxError) {
  const code: SealwaxErrorCode = error.code;
  void code;
}

// @ts-expect-error a cursor is no state
alice.state(session.id).renew(opened, payload);
// @ts-expect-error nor a session
alice.sessions().renew(opened, payload);
// @ts-expect-error what was not opened cannot be renewed
cursor.renew({ startedAt: 0, generation: 0 }, payload);
// @ts-expect-error a state belongs to a session
alice.state();
// @ts-expect-error a requestState belongs to a request
alice.requestState();
// @ts-expect-error a cursor belongs to a list
alice.cursor();
// @ts-expect-error an issuer alone is nobody
codec.view({ issuer: 'https://idp.example.com' });
// @ts-expect-error a text is no principal
codec.view('anonymous');
// @ts-expect-error anonymous, or somebody
codec.view({ anonymous: true, subject: 'alice' });
// @ts-expect-error there is no default principal
codec.view();
// @ts-expect-error a codec has an audience
new Codec({ keys: '' });
// @ts-expect-error misspelt
cursor.seal(payload, { noexpiry: true });
// @ts-expect-error one or the other
cursor.seal(payload, { ttl: 60, noExpiry: true });
// @ts-expect-error a payload is bytes
cursor.seal('text');
// @ts-expect-error a profile has a name
answer('curser');
