// The folder in which the packed tarball is installed, as a user's project would have it.

import { readFileSync } from 'node:fs';

import { countVectors, FILES } from './consumer/vectors.mjs';

export const CONSUMER = new URL('../../build/npm/consumer/', import.meta.url).pathname;
/** The one beside it that has the official SDKs too. */
export const MCP = new URL('../../build/npm/mcp/', import.meta.url).pathname;
/** And the one with the oldest that are allowed. */
export const OLDEST = new URL('../../build/npm/mcp-oldest/', import.meta.url).pathname;
export const INSTALLED = `${CONSUMER}node_modules/sealwax/`;

export const manifest = JSON.parse(readFileSync(`${INSTALLED}package.json`, 'utf8'));

export const expectedCount = countVectors(
  FILES.map((path) => JSON.parse(readFileSync(CONSUMER + path, 'utf8'))),
);
