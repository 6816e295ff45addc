// What workerd runs.

import * as sealwax from 'sealwax';
import { Guard } from 'sealwax/mcp';
import more from './vectors/more.json';
import requests from './vectors/requests.json';
import v1 from './vectors/v1.json';
import { runVectors } from './vectors.mjs';

let scope;
try {
  sealwax.Key.generate();
} catch (error) {
  scope = error;
}

export default {
  async fetch() {
    if (scope?.code !== 'entropy_unavailable' || !scope.message.includes('global scope')) {
      throw new Error(`at the global scope: ${scope}`);
    }
    const codec = new sealwax.Codec({ keys: sealwax.Key.generate(), audience: 'a' });
    new Guard({ codec, principal: 'anonymous' });
    return Response.json(await runVectors(sealwax, [v1, more, requests]));
  },
};
