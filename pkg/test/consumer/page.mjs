// What a page runs, bundled or as it is.

import * as sealwax from 'sealwax';

import { runVectors } from './vectors.mjs';

const paths = ['/vectors/v1.json', '/vectors/more.json'];
globalThis.outcome = Promise.all(paths.map(async (path) => (await fetch(path)).json())).then(
  (files) => runVectors(sealwax, files),
);
