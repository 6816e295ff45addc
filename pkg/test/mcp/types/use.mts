// What compiles against the SDK's own types where no example tells it, and what must not.

import { createMcpHandler, McpServer, Server } from '@modelcontextprotocol/server';
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
  type Ledger,
  LedgerUnfit,
  type Logger,
  MemoryLedger,
  type Negotiated,
  RedisLedger,
  type Refusal,
  type RequestContext,
  type SelfContainedHandle,
  type Session,
  SqliteLedger,
  type TokenEvent,
} from 'sealwax/mcp';
import { instruments } from 'sealwax/otel';

const codec = new Codec({ keys: '', audience: 'a' });
const guard = new Guard({
  codec,
  principal: async (ctx: RequestContext): Promise<Principal> =>
    principalFromClaims({ sub: ctx.http?.req?.headers.get('x-user'), iss: ctx.sessionId }),
  onRefused: async ({ code, id, principal }: Refusal) => console.log(code, id, principal),
  onEvent: ({ event, kind, keyId, age, micros }: TokenEvent) =>
    console.log(event, kind, keyId ?? 'none', age ?? 0, micros),
  logger: console,
  timeLimit: 0.5,
  requestStateTtl: 60,
  only: { delete_note: ['id'] },
});
const { onRefused } = instruments({ meter: metrics.getMeter('sealwax'), onEvent: console.log });
const logger: Logger = { warn: (line: string, fields: object) => console.log(line, fields) };

const [ledger]: Ledger[] = [
  new MemoryLedger({ capacity: 1 << 20 }),
  new SqliteLedger(new Database(':memory:')),
  new RedisLedger(new Redis()),
  new RedisLedger(new Cluster([])),
  new RedisLedger(createClient()),
  new RedisLedger(createCluster({ rootNodes: [] })),
  new RedisLedger(new Upstash({ url: '', token: '', automaticDeserialization: false })),
  { run: async ({ script, keys, args }: Command) => [script, ...keys, ...args] },
];
const ledgerOptions = { label: 'a', acceptIssuedSince: 1, reusableRequestState: true };
new Guard({ codec, principal: () => anonymous, onRefused, logger, ledger, ledgerOptions });
export const unfit: Error = new LedgerUnfit('it would forget');
// @ts-expect-error a store is none by itself
new RedisLedger({ get() {} });
// @ts-expect-error a ledger runs commands
new Guard({ codec, principal: 'anonymous', ledger: { get() {} } });

const high: McpServer = guard.protect(new McpServer({ name: 'x', version: '1' }));
const low: Server = guard.protect(new Server({ name: 'x', version: '1' }));
const rows = guard.referenceHandles('row', { maxAge: 60 });
const baskets = guard.selfContainedHandles<string[]>('basket', { singleUse: true });
low.setRequestHandler('tools/call', async (_, ctx) => {
  const id: string = (await rows.check(ctx, (await rows.mint(ctx)).handle)).ulid;
  const number: number = await rows.checkShort(ctx, await rows.mintShort(ctx, 7));
  const held: SelfContainedHandle<string[]> = await baskets.seal(ctx, [id, `${number}`]);
  const next = await baskets.renew(ctx, held, [...held.value, 'b']);
  const generation: number = (await baskets.open(ctx, next.handle)).opened.generation;
  return { content: [{ type: 'text', text: guard.state(ctx, { generation }) }] };
});

// @ts-expect-error there is no default principal
new Guard({ codec });
// @ts-expect-error anonymous is so by name
new Guard({ codec, principal: 'alice' });
// @ts-expect-error a text is no principal
new Guard({ codec, principal: () => 'anonymous' });
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
  required: { methods: ['resources/read'], tools: ['count'] },
});
high.registerTool('count', {}, (ctx) => {
  const session: Session<Counter> | undefined = sessions.of(ctx);
  // @ts-expect-error another value
  session?.write({ counter: 1 });
  const negotiated: Negotiated | undefined = guard.negotiated(ctx);
  const text = `${session?.id}${session?.fork().state}${negotiated?.clientInfo.name}`;
  return { content: [{ type: 'text', text }] };
});
// @ts-expect-error a session begins with a value of its type
guard.sessions<Counter>({ initial: () => 7 });
guard.sessions({ heldByServer: true, required: true });
const web: FetchHandler = guard.fetch(createMcpHandler(() => high).fetch, { sep1359: true });
web(new Request('http://localhost/mcp'));
