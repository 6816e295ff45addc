// Each entry point beside the package's own: compiled where exports are not known, too.

import { Codec } from 'sealwax';
import { Guard, MemoryLedger } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { instruments } from 'sealwax/otel';
import { TestClock, testCodec, testLedger, testPrincipal } from 'sealwax/testing';

const codec = new Codec({ keys: '', audience: 'a' });
const ledger = new MemoryLedger();
const guard: Guard = new Guard({ codec, principal: 'anonymous', ledger, ...instruments() });
export const [stdin, stdout] = sessionStreams(guard, { ttl: 60 });

const clock = new TestClock('2027-01-15T08:00:00Z');
const principal = testPrincipal({ subject: 'alice' });
export const tested = new Guard({
  codec: testCodec(clock, { payloadLimit: 64 }),
  principal,
  ledger: testLedger(clock),
});

// @ts-expect-error a guard has a codec
new Guard({ principal: 'anonymous' });
