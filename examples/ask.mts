/**
 * Ask: the client of the README. It answers for note 7, and sends the same answer for note 8.
 *
 * In the folder of `confirm.mts`: `SEALWAX_KEYS="$(npx sealwax keygen)" node ask.mts`
 */

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const capabilities = { elicitation: { form: {} } };
const versionNegotiation = { mode: { pin: '2026-07-28' } }; // unless told, it speaks 2025-11-25
const client = new Client({ name: 'ask', version: '1.0.0' }, { capabilities, versionNegotiation });
const env = { SEALWAX_KEYS: process.env.SEALWAX_KEYS ?? '' };
await client.connect(new StdioClientTransport({ command: 'node', args: ['confirm.mts'], env }));

const call = (id: number, answer = {}) =>
  client.callTool(
    { name: 'delete_note', arguments: { id }, ...answer },
    { allowInputRequired: true },
  );
const { requestState } = await call(7);
const answer = { requestState, inputResponses: { confirm: { action: 'accept', content: {} } } };
console.log(requestState, (await call(7, answer)).content);
await call(8, answer).catch(({ message }) => console.log(message)); // the answer was for note 7
await client.close();
