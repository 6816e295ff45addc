// The service of docs/recipes/oauth.md: `node authorize.mjs KEY CERTIFICATE REDIRECT` prints its address, and ends with stdin.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

import { Provider } from 'oidc-provider';

const [key, cert, redirect] = process.argv.slice(2);
const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
server.listen(0, '127.0.0.1', () => {
  const issuer = `https://127.0.0.1:${server.address().port}`;
  const client = { client_id: 'notes', client_secret: 'secret', redirect_uris: [redirect] };
  const provider = new Provider(issuer, { clients: [client], pkce: { required: () => true } });
  server.on('request', provider.callback());
  console.log(JSON.stringify(issuer));
});
process.stdin.on('end', () => process.exit()).resume();
