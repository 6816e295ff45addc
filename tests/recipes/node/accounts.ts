// Where docs/recipes/oauth.md puts tokens, for all replicas.
import { appendFileSync } from 'node:fs';
import type { Principal } from 'sealwax';

export async function store(principal: Principal, tokens: object): Promise<void> {
  appendFileSync(process.env.ACCOUNTS ?? '', `${JSON.stringify({ principal, tokens })}\n`);
}
