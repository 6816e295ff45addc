// What workerd runs.

import * as sealwax from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { guardOf } from './guard-of.mjs';
import more from './vectors/more.json';
import v1 from './vectors/v1.json';
import { runVectors } from './vectors.mjs';

export default {
  async fetch() {
    guardOf(sealwax, Guard);
    return Response.json(await runVectors(sealwax, [v1, more]));
  },
};
