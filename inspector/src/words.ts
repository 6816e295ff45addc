/** The meaning of each error code for a person who inspects a token. */

import type { SealwaxErrorCode } from 'sealwax';

export const WHAT: Readonly<Record<SealwaxErrorCode, readonly [title: string, advice: string]>> = {
  invalid_argument: ['Something is missing', 'Give what the message names.'],
  invalid_key: ['A key cannot be used', 'Give whole key texts, separated by commas or spaces.'],
  entropy_unavailable: ['This browser gives no randomness', 'Try another browser.'],
  internal_error: ['The inspector has failed', 'Load this page again.'],
  too_large: ['It is too large', 'Raise the limit under Limits to what the server has.'],
  unsupported: ['It is of a later version', 'A newer inspector may know it.'],
  malformed: [
    'It is none of Sealwax’s texts',
    'Look for what was cut off, added or spelled in another way.',
  ],
  wrong_purpose: ['It is of another kind', 'It was made for something else than is asked for.'],
  unknown_key: [
    'Another key made it',
    'Give the key of this id: it is retired, or not yet known to this ring.',
  ],
  unauthentic: [
    'It does not fit',
    'It is forged, altered, or bound to something else: compare the audience and the other fields with the ' +
      'server’s. A handle is bound to its principal too.',
  ],
  principal_mismatch: [
    'It belongs to somebody else',
    'It is authentic, but was issued to another principal than this one.',
  ],
  not_yet_valid: ['It is from the future', 'Compare the clocks of this device and the server.'],
  expired: ['It has expired', 'It is authentic, but its time is over.'],
};
