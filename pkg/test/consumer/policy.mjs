// A page with a policy: `sealwax`, and `sealwax/slim` with its module compiled as it arrives.

const PACKAGE = '/node_modules/sealwax/dist';

async function slim() {
  const sealwax = await import(`${PACKAGE}/esm/slim.js`);
  sealwax.start(await WebAssembly.compileStreaming(fetch(`${PACKAGE}/sealwax.wasm`)));
  return sealwax;
}

/** The length of a new key's id, or the name of the error. */
const idLength = (load) =>
  load().then(
    ({ Key }) => Key.generate().id.length,
    ({ name }) => name,
  );

globalThis.outcome = Promise.all([
  idLength(() => import(`${PACKAGE}/esm/index.js`)),
  idLength(slim),
]).then(([whole, slim]) => ({ whole, slim }));
