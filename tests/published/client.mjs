// An official client of the README's server: it answers what it is asked, and sends the state for another note.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client(
  { name: 'reader', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  },
);
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [process.argv[2]],
  env: { SEALWAX_KEYS: process.env.SEALWAX_KEYS },
  stderr: 'ignore',
});
client.setRequestHandler('elicitation/create', ({ params }) => {
  console.log(params.message);
  return { action: 'accept', content: {} };
});
await client.connect(transport);

let state;
const send = transport.send.bind(transport);
transport.send = (message, ...rest) => {
  state ??= message.params?.requestState;
  return send(message, ...rest);
};
const { content } = await client.callTool({ name: 'delete_note', arguments: { id: 7 } });
console.log(content[0].text);
// What it was given for note 7, for note 1.
transport.send = (message, ...rest) => {
  const another = message.params?.name && { ...message.params, requestState: state };
  return send(another ? { ...message, params: another } : message, ...rest);
};
await client
  .callTool({ name: 'delete_note', arguments: { id: 1 } })
  .then((told) => console.log(JSON.stringify(told)))
  .catch(({ code }) => console.log(code));
await client.close();
