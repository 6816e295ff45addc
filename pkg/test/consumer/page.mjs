// What a page runs, bundled or as it is.

import * as sealwax from 'sealwax';

import { FILES, runVectors } from './vectors.mjs';

globalThis.outcome = Promise.all(FILES.map(async (path) => (await fetch(`/${path}`)).json())).then(
  (files) => runVectors(sealwax, files),
);
