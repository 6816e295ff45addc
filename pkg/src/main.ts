/// <reference lib="esnext.disposable" preserve="true" />

/** The exports of `sealwax` and `sealwax/slim`. */

export { type Answer, answer, type Profile } from './answer.js';
export { Codec, type CodecOptions, type Keys, type KeysFile, type Limits } from './codec.js';
export { requestContext, requestContextFromJson, tokenFields } from './context.js';
export { SealwaxError, type SealwaxErrorCode } from './error.js';
export type { IdentifierFacts, Inspected, PrincipalParts, TokenFields } from './facts.js';
export { inspect } from './inspect.js';
export { Key, type KeyLike, KeyRing } from './key.js';
export type { Lifetime } from './lifetime.js';
export type { Logger } from './log.js';
export type { Opened } from './opened.js';
export { anonymous, type Principal, principalFromClaims } from './principal.js';
export type { Kind, Sealer } from './sealer.js';
export type { Session, SessionMetadata, Sessions } from './sessions.js';
export type { View } from './view.js';
