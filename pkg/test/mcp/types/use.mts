// What compiles against the SDK's own types, and what must not.

import { createMcpHandler, inputRequired, McpServer, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { metrics } from '@opentelemetry/api';
import { Redis as Upstash } from '@upstash/redis';
import Database from 'better-sqlite3';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { Codec, type Principal, principalFromClaims } from 'sealwax';
import {
  anonymous,
  type Command,
  type FetchHandler,
  Guard,
  type GuardEvent,
  type Ledger,
  type LedgerOptions,
  LedgerUnfit,
  type Logger,
  MemoryLedger,
  type Negotiated,
  principalFromAuthInfo,
  RedisLedger,
  type Refused,
  type RequestContext,
  type SelfContainedHandle,
  type Session,
  SqliteLedger,
} from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { instruments } from 'sealwax/otel';

const codec = new Codec({ keys: '', audience: 'a' });
const guard = new Guard({
  codec,
  principal: async (ctx: RequestContext): Promise<Principal> =>
    principalFromClaims({ sub: ctx.http?.req?.headers.get('x-user'), iss: ctx.sessionId }),
  onRefused: async ({ code, id, principal }: Refused) => console.log(code, id, principal),
  onEvent: ({ event, kind, keyId, age, micros }: GuardEvent) =>
    console.log(event, kind, keyId ?? 'none', age ?? 0, micros),
  logger: console,
  timeLimit: 0.5,
  requestStateTtl: 60,
  only: { delete_note: ['id'] },
});
new Guard({ codec, principal: principalFromAuthInfo, ...instruments() });
const { onRefused } = instruments({ meter: metrics.getMeter('sealwax'), onEvent: console.log });
const logger: Logger = { warn: (line: string, fields: object) => console.log(line, fields) };
new Guard({ codec, principal: 'anonymous', onRefused, logger });

const ledgerOptions: LedgerOptions = {
  label: 'a',
  clockTolerance: 5,
  acceptIssuedSince: 1,
  reusableRequestState: true,
};
const ledgers: Ledger[] = [
  new MemoryLedger({ capacity: 1 << 20 }),
  new SqliteLedger(new Database(':memory:')),
  new RedisLedger(new Redis()),
  new RedisLedger(new Cluster([])),
  new RedisLedger(createClient()),
  new RedisLedger(createCluster({ rootNodes: [] })),
  new RedisLedger(new Upstash({ url: '', token: '', automaticDeserialization: false })),
  { run: async ({ script, keys, args }: Command) => [script, ...keys, ...args] },
];
export const remembering = new Guard({
  ...{ codec, principal: 'anonymous', ledgerOptions },
  ledger: ledgers[0],
});
export const unfit: Error = new LedgerUnfit('it would forget');
export const signedOut: Promise<void> = remembering.revoke({ subject: 'alice' }, 3600);
remembering.fetch(async () => new Response(), { idle: 60 });
remembering.selfContainedHandles('basket', { singleUse: true });
// @ts-expect-error a store is none by itself
new RedisLedger({ get() {} });
// @ts-expect-error a ledger runs commands
new Guard({ codec, principal: 'anonymous', ledger: { get() {} } });

const high: McpServer = guard.protect(new McpServer({ name: 'x', version: '1' }));
const low: Server = guard.protect(new Server({ name: 'x', version: '1' }));
const rows = guard.referenceHandles('row', { maxAge: 60 });
const baskets = guard.selfContainedHandles<string[]>('basket', { ttl: 60 });

high.registerTool('x', {}, async (ctx) => {
  const row = await rows.mint(ctx);
  const id: string = (await rows.check(ctx, row.handle)).ulid;
  await rows.end(ctx, row.handle);
  const short: string = await rows.mintShort(ctx, 7);
  const number: number = await rows.checkShort(ctx, short);
  const held: SelfContainedHandle<string[]> = await baskets.seal(ctx, [id, `${number}`]);
  const next = await baskets.renew(ctx, held, [...held.value, 'b']);
  const generation: number = (await baskets.open(ctx, next.handle)).opened.generation;
  return inputRequired({ requestState: guard.state(ctx, { generation }) });
});
low.setRequestHandler('tools/call', async (_, ctx) =>
  inputRequired({ requestState: guard.state(ctx, 7) }),
);

// @ts-expect-error there is no default principal
new Guard({ codec });
// @ts-expect-error anonymous is so by name
new Guard({ codec, principal: 'alice' });
// @ts-expect-error a text is no principal
new Guard({ codec, principal: () => 'anonymous' });
new Guard({ codec, principal: () => anonymous });
// @ts-expect-error a principal is somebody
new Guard({ codec, principal: () => ({ issuer: 'i' }) });
// @ts-expect-error misspelt
new Guard({ codec, principal: 'anonymous', onrefused() {} });
// @ts-expect-error a guard protects servers
guard.protect({});
// @ts-expect-error a basket holds texts
high.registerTool('y', {}, (ctx) => baskets.seal(ctx, [7]));

interface Counter {
  readonly count: number;
}
const sessions = guard.sessions<Counter>({
  initial: async ({ params, http }) => ({ count: `${params.from}${http?.req?.url}`.length }),
  ttl: 60,
  required: { methods: ['resources/read'], tools: ['count'] },
});
high.registerTool('count', {}, (ctx) => {
  const session: Session<Counter> | undefined = sessions.of(ctx);
  session?.write({ count: session.value.count + session.generation });
  // @ts-expect-error another value
  session?.write({ counter: 1 });
  const { ulid, id } = session ?? {};
  const negotiated: Negotiated | undefined = guard.negotiated(ctx);
  const text = `${ulid}${id}${session?.fork().state}${negotiated?.clientInfo.name}`;
  return { content: [{ type: 'text', text }] };
});
// @ts-expect-error a session begins with a value of its type
guard.sessions<Counter>({ initial: () => 7 });
guard.sessions({ heldByServer: true, required: true });
const web: FetchHandler = guard.fetch(createMcpHandler(() => high).fetch, { sep1359: true });
web(new Request('http://localhost/mcp'));
new StdioServerTransport(...sessionStreams(guard, { ttl: 60 }));
