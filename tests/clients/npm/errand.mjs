// The errand of each client: all that it can do at the server of notes, and calls in one session at the counter.

/** Where the server is, as the command line has it: `http URL` or `stdio COMMAND...`. */
const [kind, ...where] = process.argv.slice(2);

export const server =
  kind === 'http'
    ? { url: where[0] }
    : { command: where[0], args: where.slice(1), env: { SEALWAX_KEYS: process.env.SEALWAX_KEYS } };

/**
 * Does the errand, and prints what the client saw as JSON.
 *
 * `client` has `tools()` for their names, `call(name, arguments)` for the text of the result, and if it can
 * `resources(cursor)` for `{ uris, next }` and `read(uri)` for the text.
 */
export async function errand(client) {
  const seen = { tools: await client.tools() };
  if (seen.tools.includes('count')) {
    // The tool needs a session of another kind, which only our own helper has.
    seen.refused = await client.call('count', {}).catch((error) => String(error.message ?? error));
    seen.again = await client.tools();
  } else {
    const { basket } = JSON.parse(await client.call('new_basket', {}));
    const added = await client.call('add_to_basket', { basket, item: 'milk' });
    seen.items = JSON.parse(added).items;
    if (client.resources) {
      const pages = [await client.resources()];
      while (pages.at(-1).next) pages.push(await client.resources(pages.at(-1).next));
      seen.pages = pages.map(({ uris }) => uris.length);
    }
    if (client.read) seen.text = await client.read('note:///7');
  }
  console.log(`SEEN ${JSON.stringify(seen)}`);
  process.exit(0);
}

export const textOf = (result) => result.content.find(({ type }) => type === 'text').text;
export const names = (tools) => tools.map(({ name }) => name);
export const page = ({ resources, nextCursor }) => ({
  uris: resources.map(({ uri }) => uri),
  next: nextCursor,
});
