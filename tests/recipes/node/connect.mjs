// The tool of docs/recipes/oauth.md, by the official client: `node connect.mjs '{"url": …, "token": …}'` prints what it says.

import { connected } from './visit.mjs';

const { url, token } = JSON.parse(process.argv[2]);
const client = await connected(url, token, fetch);
const { content } = await client.callTool({ name: 'connect' });
console.log(content[0].text);
await client.close();
