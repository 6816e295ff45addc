// Upstash's REST protocol in front of a Valkey. As a program it starts both, and tells their addresses.

import { listen } from './client.mjs';
import { valkey } from './valkey.mjs';

/** Serves until it is closed; the store refuses the `forbidden` commands. */
export async function rest(store, forbidden = []) {
  const { url, close } = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const [name, ...args] = JSON.parse(body);
    const told = async () => {
      if (forbidden.includes(name)) return { error: `ERR unknown command '${name}'` };
      const result = await store.admin.call(name, ...args);
      return { result };
    };
    const answer = await told().catch(({ message }) => ({ error: message }));
    response.statusCode = answer.error ? 400 : 200;
    const encoded = (value) => {
      if (Array.isArray(value)) return value.map(encoded);
      return typeof value === 'string' && value !== 'OK'
        ? Buffer.from(value).toString('base64')
        : value;
    };
    response.end(JSON.stringify(answer.error ? answer : { result: encoded(answer.result) }));
  });
  return { url: url.origin, close };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const store = await valkey();
  const { url, close } = await rest(store);
  console.log(JSON.stringify({ rest: url, redis: store.url }));
  // Until whoever started it is gone.
  process.stdin.resume().once('end', async () => {
    close();
    await store.close();
  });
}
