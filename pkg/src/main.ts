/// <reference lib="esnext.disposable" preserve="true" />

/** All that the package offers, but for how the module is loaded. */

export { type Answer, answer, type Profile } from './answer.js';
export { Codec, type Limits, type Principal } from './codec.js';
export { requestContext, requestContextFromJson } from './context.js';
export { SealwaxError, type SealwaxErrorCode } from './error.js';
export type { IdentifierFacts, Inspected } from './facts.js';
export { inspect } from './inspect.js';
export { Key, KeyRing } from './key.js';
export type { Lifetime } from './lifetime.js';
export type { Opened } from './opened.js';
export type { Kind, Sealer } from './sealer.js';
export type { Session, SessionMetadata, Sessions } from './sessions.js';
export type { View } from './view.js';
