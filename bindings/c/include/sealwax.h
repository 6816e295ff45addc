// Sealwax seals the state that an MCP (Model Context Protocol) server hands to its clients.
//
// Rules for every function:
//
// - A function that can fail returns a status: SEALWAX_OK (0), or one of the numbers below, which are
//   grouped in tens and never change their meaning. On failure it writes nothing but `*error`, and
//   `*len` if a buffer is too small.
// - Arguments come in this order: self, inputs, outputs, error. `error` may be NULL, and so may the
//   pointers that a comment names; any other NULL is refused (SEALWAX_NULL_POINTER).
// - Text and bytes are a pointer and a size, without a NUL at the end, both in and out. (NULL, 0)
//   is empty. Text is UTF-8.
// - Results go to the caller's memory: (out, cap, len) takes up to `cap` bytes at `out`, and their
//   number at `len`. SEALWAX_BUFFER_TOO_SMALL gives the required size at `len`, so (NULL, 0, &len)
//   asks for it. Sealing and minting give a new result with each call, which may differ in size; the
//   limits below always suffice.
// - The caller owns the objects made by _new, _generate, _from_secret, _parse, _read, _from_env and
//   _open, and frees them with _free, in any order. Threads may share all objects until they are freed,
//   except for the machines that change. They are immutable, except for these and the keys of a codec.
// - Structs never change within an ABI version: additions come as new functions.
// - Sizes are in bytes, characters are ASCII, and times are Unix times in the unit given.
// - No bug in sealwax aborts the process, and keys are wiped when they are freed. Without memory it
//   aborts, as Rust does, before anything is written. The library has no global state; a process may
//   fork() at any time. A child knows nothing of what its parent then records in a ledger in memory.


#ifndef SEALWAX_H
#define SEALWAX_H

// Generated from bindings/c/src by cbindgen: edit there, then run `make header`.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The ABI of this header. It changes when programs compiled against another could break.
#define SEALWAX_ABI_VERSION 1

// Success.
#define SEALWAX_OK 0

// A wrong argument of the caller; the message says what was expected.
#define SEALWAX_INVALID_ARGUMENT 10

// A required pointer was NULL.
#define SEALWAX_NULL_POINTER 11

// A text is not UTF-8.
#define SEALWAX_NOT_UTF8 12

// The buffer is too small; `*len` is the required size, and nothing else was written.
#define SEALWAX_BUFFER_TOO_SMALL 13

// An unusable key text or key ring.
#define SEALWAX_INVALID_KEY 20

// The system gave no randomness, so nothing was sealed.
#define SEALWAX_ENTROPY_UNAVAILABLE 30

// A bug in sealwax itself.
#define SEALWAX_INTERNAL_ERROR 31

// A token or a payload over its limit.
#define SEALWAX_TOO_LARGE 40

// A later version of the format, or a kind of token unknown to version 1.
#define SEALWAX_UNSUPPORTED 41

// Not a token of this format, or not in its canonical spelling.
#define SEALWAX_MALFORMED 42

// A token of another kind, or a handle of another type, than expected.
#define SEALWAX_WRONG_PURPOSE 43

// Sealed under a key that is not in the ring.
#define SEALWAX_UNKNOWN_KEY 50

// Forged, altered, or bound to something else; these cannot be told apart.
#define SEALWAX_UNAUTHENTIC 51

// Authentic, but issued to another principal.
#define SEALWAX_PRINCIPAL_MISMATCH 52

// Issued further in the future than the allowed clock tolerance.
#define SEALWAX_NOT_YET_VALID 60

// Past its lifetime or the given maximum age.
#define SEALWAX_EXPIRED 61

// The size of a message, with its NUL.
#define SEALWAX_MESSAGE_LEN 252

// The size of a key's text.
#define SEALWAX_KEY_TEXT_LEN 53

// The largest size of a ring's ids.
#define SEALWAX_RING_IDS_MAX 64

// The size of a session id.
#define SEALWAX_SESSION_ID_LEN 64

// The largest size of a handle.
#define SEALWAX_HANDLE_MAX 75

// The largest size of an answer.
#define SEALWAX_ANSWER_MAX 4096

// The largest size of a method's token fields.
#define SEALWAX_TOKEN_FIELDS_MAX 256

// The largest size of a principal: three texts of 1,024 bytes, fully escaped.
#define SEALWAX_PRINCIPAL_MAX 20480

// The largest size of a report on a text, in words or as JSON.
#define SEALWAX_REPORT_MAX 512

// `state` of a data-layer session; needs a session id. The sealwax_session functions use it.
#define SEALWAX_KIND_STATE 1

// `requestState` of a multi-round-trip request; needs a context.
#define SEALWAX_KIND_REQUEST_STATE 2

// A self-contained session for a header that cannot be renewed (`Mcp-Session-Id`).
#define SEALWAX_KIND_SESSION 3

// A cursor; needs the list method as its label, such as "tools/list".
#define SEALWAX_KIND_CURSOR 4

// State in a self-contained handle; needs the handle's type as its label.
#define SEALWAX_KIND_HANDLE_STATE 5

// A custom token of the application; needs a label, and may have a session id and a context.
#define SEALWAX_KIND_CUSTOM 127

// A time that never comes.
#define SEALWAX_NEVER 18446744073709551615ull

// A frame that makes a guard, of a codec: its settings. The answer is SEALWAX_MADE.
#define SEALWAX_GUARD 1

// A frame that begins the exchange of a message at an SDK's handlers, of a guard: method, target,
// arguments, token, the caller's issuer, client and subject, header, the session's id and state, and
// the milliseconds that are left.
#define SEALWAX_MESSAGE 2

// Begins the exchange of a message at the SDK's handlers that is none, of the `parent`, a guard: it cannot be read, or with
// SEALWAX_FLAG_ID_IN_USE has an id in use. The answer is SEALWAX_STEP.
#define SEALWAX_INVALID 3

// A frame that begins the exchange that signs a principal out everywhere, of a guard: a principal
// as a document, and for how many seconds that is remembered, 400 days if absent. It ends with the
// step `done` if the ledger recorded it; after `reply`, the principal is possibly not signed out.
#define SEALWAX_REVOCATION 4

// A frame that makes an entry of the log for a mistake that the adapter found by itself, of a
// guard: a document. The answer is SEALWAX_TEXT, the entry; the machine can do no more.
#define SEALWAX_REPORT 5

// A frame that begins the exchange of an operation on a handle, of the request's exchange: a
// document, and a value.
#define SEALWAX_HANDLE 6

// A frame that makes what is known of a Redis or a Valkey between commands, without a parent. The
// answer is SEALWAX_MADE.
#define SEALWAX_STORE 7

// A frame that begins the store machine about a command, of a store: a document. Without a command it is a check of the server.
#define SEALWAX_STORE_MACHINE 8

// A frame that makes a ledger in memory, without a parent: its size in bytes, and the time in Unix
// seconds from which it remembers. The answer is SEALWAX_MADE.
#define SEALWAX_MEMORY 9

// A frame that begins a run of the command `sealwax`, without a parent: a document as
// cli/src/document.rs specifies, which may change in any release.
#define SEALWAX_COMMAND 10

// Begins the exchange of an HTTP request, of the `parent`, a guard: method, `MCP-Protocol-Version`, `Mcp-Session-Id`,
// `Content-Encoding`, the body if it is there, and the caller's issuer, client and subject. The answer is SEALWAX_STEP.
#define SEALWAX_HTTP 11

// Begins a connection on stdio, of the `parent`, a guard. The answer is SEALWAX_MADE.
#define SEALWAX_CONNECTION 12

// Begins the exchange of a line of the client's, of the `parent`, a connection. The answer is SEALWAX_STEP.
#define SEALWAX_LINE 13

// Begins the exchange of a message of the SDK's, of the `parent`, a connection: it, and the id of the request that it belongs to, as
// JSON. The answer is SEALWAX_STEP.
#define SEALWAX_LEAVES 14

// A frame that begins the store machine with a file of SQLite, without a parent: a document, a command, or with `durable` how the
// file is opened.
#define SEALWAX_SQLITE 15

// A frame that tells an exchange what became of a delivered message: a document, and a value; a
// store machine or a run of the command its answer: a document.
#define SEALWAX_EVENT 16

// A frame that tells an exchange the result of a delivered message: `resultType`, `cacheScope`,
// and the member that the method's token fields name.
#define SEALWAX_RESULT 17

// A frame that tells an exchange the caller: issuer, client and subject.
#define SEALWAX_PRINCIPAL 18

// A frame that has an exchange seal the next `requestState`: a value. The answer is SEALWAX_TEXT,
// the token.
#define SEALWAX_SEAL_STATE 19

// A frame that has an exchange write the value of its session: a value. The answer is
// SEALWAX_MADE.
#define SEALWAX_WRITE 20

// A frame that has an exchange fork its session. The answer is SEALWAX_TEXT, the metadata.
#define SEALWAX_FORK 21

// A frame that has an exchange make the request's key for another service. The answer is SEALWAX_TEXT.
#define SEALWAX_IDEMPOTENCY_KEY 24

// A frame that has a ledger in memory run a command: a document, and the time in Unix seconds. The
// answer is SEALWAX_TEXT, the reply.
#define SEALWAX_RUN 22

// A frame that tells an exchange the answer to what it asked: a value; or what was thrown; or what
// is wrong. With none of these no answer came in time.
#define SEALWAX_TOLD 23

// Tells the body of an HTTP request. The answer is SEALWAX_STEP.
#define SEALWAX_BODY 25

// Tells the beginning of the answer to an HTTP request: its status, `Content-Type` and `Mcp-Session-Id`. The answer is
// SEALWAX_MADE, with SEALWAX_FLAG_CHANGES if its body goes through SEALWAX_PIECE.
#define SEALWAX_ANSWER 26

// Tells a piece of that answer's body, cut anywhere. The answer is SEALWAX_TEXT, what can be sent.
#define SEALWAX_PIECE 27

// Tells that the answer is whole. The answer is SEALWAX_STEP, and the rest of its body.
#define SEALWAX_ANSWERED 28

// An answer: a step, or what is next in a store machine or a run of the command: a document.
#define SEALWAX_STEP 32

// An answer: the step `deliver`: what takes the place of the token that the request brought; and
// the events. Report a result that has the member which the method's token fields name.
#define SEALWAX_DELIVER 33

// An answer: the step `respond`: the token for that member of the result, and without one the
// result leaves as it is; and the events.
#define SEALWAX_RESPOND 34

// An answer: a text.
#define SEALWAX_TEXT 35

// An answer: it is made, or written.
#define SEALWAX_MADE 36

// Of a message: it is a notification.
#define SEALWAX_FLAG_NOTIFICATION 1

// Of a message: it is of revision 2026-07-28 or later.
#define SEALWAX_FLAG_MODERN 2

// Of a message: it has the metadata of a session.
#define SEALWAX_FLAG_SESSION 4

// Of a message: its caller is known.
#define SEALWAX_FLAG_CALLER 8

// Of a caller: it is nobody in particular. Without parts then.
#define SEALWAX_FLAG_ANONYMOUS 16

// Of a result: it has a `ttlMs`.
#define SEALWAX_FLAG_TTL 32

// Of a store: its client can keep a connection of its own for commands that a replica confirms.
#define SEALWAX_FLAG_WAITS 64

// Of the answer to SEALWAX_GUARD: the exchange of some messages may begin late.
#define SEALWAX_FLAG_DEFERS 128

// Of a message: the server can send its client a request while it waits.
#define SEALWAX_FLAG_CAN_BE_ASKED 1024

// Of SEALWAX_INVALID: a request in progress on its connection has its id.
#define SEALWAX_FLAG_ID_IN_USE 512

// Of an HTTP request, and of its body: it is larger than what the adapter reads.
#define SEALWAX_FLAG_TOO_LARGE 2048

// Of the beginning of an answer: its body goes through SEALWAX_PIECE.
#define SEALWAX_FLAG_CHANGES 4096

// A sealed token.
#define SEALWAX_IS_TOKEN 1

// A session id.
#define SEALWAX_IS_SESSION_ID 2

// A handle.
#define SEALWAX_IS_HANDLE 3

// A key text with a correct checksum: a secret.
#define SEALWAX_IS_KEY 4

// Seals and opens the tokens of one service: a key ring, an audience and limits.
typedef struct sealwax_codec sealwax_codec;

// A secret and the keys derived from it. It is wiped when the last object that shares it is freed.
typedef struct sealwax_key sealwax_key;

// A state machine: a guard, one of its exchanges, what is known of a Redis, a store machine with it or with a file of SQLite, a ledger in memory, or a run
// of the command `sealwax`. Threads may share a guard and what is known of a Redis; any other changes, so only one thread may
// use it at a time. It stays valid when its parent is freed.
//
// A *frame* is what it is told, and what it answers: a kind in 1 byte, the number of texts in 1 byte, flags in 2 bytes, the
// length of each text in 4 bytes, and the texts. Numbers are little-endian. The length -1 is for a text that is absent, as
// all are that are left out at the end; -2 for a value of a client that is no text, and so is what is no UTF-8. Numbers among
// the texts are in decimal digits. docs/engine.md specifies the documents.
typedef struct sealwax_machine sealwax_machine;

// 1 to 16 keys in order: the first seals, all of them open.
//
// To rotate, give every replica a key before it seals, and keep it until the tokens it sealed have
// expired: [old, new] everywhere, then [new, old], then [new].
typedef struct sealwax_ring sealwax_ring;

// A data-layer session, opened and fully checked: its id and its state.
typedef struct sealwax_session sealwax_session;

// For tests of an application: a clock that stands still until it is set. Threads may share it.
typedef struct sealwax_test_clock sealwax_test_clock;

// A codec for one principal, with the principal's tags computed: reuse it for the whole request.
typedef struct sealwax_view sealwax_view;

// The outcome of a call: SEALWAX_OK, or another of the numbers above.
typedef int32_t sealwax_status;

// The error of a call: for the server's log, never for the client.
//
// The caller owns it; a failing call fills it in, unless it is given NULL. It holds no key, no
// token and no payload.
typedef struct sealwax_error {
  // The status that the call returned.
  sealwax_status status;
  // The expected and the found value, in UTF-8 with a NUL at the end; cut if longer.
  char message[SEALWAX_MESSAGE_LEN];
} sealwax_error;

// The limits of a codec; NULL stands for the default.
typedef struct sealwax_limits {
  // The limit of a payload in bytes: 4,096 by default, 1 MiB at most.
  const uint64_t *payload;
  // The seconds by which another replica's clock may be ahead: 60 by default, 300 at most.
  const uint64_t *clock_tolerance;
  // The maximum age of a data-layer session in seconds, over all its renewals: 30 days by
  // default.
  const uint64_t *session_max_age;
} sealwax_limits;

// The purpose of a sealed token and its bindings. Both sides must give the same fields; a token
// with other fields is refused. NULL means absent; an empty session id or context is an error.
typedef struct sealwax_purpose {
  // SEALWAX_KIND_STATE to SEALWAX_KIND_CUSTOM.
  int32_t kind;
  // The list method, the type of the self-contained handle, the name of a custom token; else NULL.
  const char *label;
  // The size of the label.
  size_t label_len;
  // The text of the session id that the token belongs to; else NULL.
  const char *session_id;
  // The size of the session id.
  size_t session_id_len;
  // The 32 bytes of the request context; else NULL.
  const uint8_t *context;
  // The size of the context: 32 or 0.
  size_t context_len;
} sealwax_purpose;

// The lifetime of a sealed token. A function's `lifetime` of NULL is the kind's default: 600 s for
// request state, 30 days for self-contained sessions, 24 hours for the rest.
typedef struct sealwax_lifetime {
  // Seconds, 1 to 4,294,967,295; 0 with `no_expiry`.
  uint64_t ttl;
  // Whether it has no expiry: it opens as long as its key is in the ring.
  bool no_expiry;
} sealwax_lifetime;

// The claims of a token, authentic and fully checked.
typedef struct sealwax_opened {
  // The time of sealing, in Unix seconds.
  uint64_t issued_at;
  // The end of its lifetime, in Unix seconds; SEALWAX_NEVER for no expiry.
  uint64_t expires_at;
  // The start of its session, in Unix seconds: renewals keep it.
  uint64_t started_at;
  // The number of renewals; it stops at its maximum.
  uint32_t generation;
  // Whether an older key made it; seal it anew before that key is retired.
  bool needs_reseal;
  // Whether to seal it anew even without a change: half of its lifetime is over, or an older key
  // made it.
  bool needs_renewal;
  // The id by which a ledger counts uses: the same for every spelling of the token.
  uint8_t token_id[16];
} sealwax_opened;

// The claims of a freshly sealed token.
typedef struct sealwax_sealed {
  // The time of sealing, in Unix seconds.
  uint64_t issued_at;
  // The end of its lifetime, in Unix seconds; SEALWAX_NEVER for no expiry.
  uint64_t expires_at;
  // The id by which a ledger counts uses.
  uint8_t token_id[16];
} sealwax_sealed;

// The facts of a session id or a handle, minted or verified.
typedef struct sealwax_identifier {
  // The time of making, in Unix milliseconds.
  uint64_t created_at_ms;
  // The end under the given max_age, in Unix milliseconds; SEALWAX_NEVER without one.
  uint64_t ends_at_ms;
  // The bytes that make it unique: the name for logs and stores, because unlike the text it does
  // not continue a session.
  uint8_t ulid[16];
  // Whether an older key made it; retiring that key ends it.
  bool needs_reseal;
} sealwax_identifier;

// The unverified claims of a text.
typedef struct sealwax_inspection {
  // SEALWAX_IS_TOKEN to SEALWAX_IS_KEY.
  int32_t what;
  // For a token: its kind.
  int32_t kind;
  // For a session id or a handle: its claimed time of making, in Unix milliseconds.
  uint64_t created_at_ms;
  // The id of the key that claims to have made it, or of the key itself; zeros for a handle.
  uint8_t key_id[4];
  // For a token: its id, the same as that of the opened token.
  uint8_t token_id[16];
  // The size of the type.
  uint32_t handle_type_len;
  // For a handle: its type.
  uint8_t handle_type[32];
} sealwax_inspection;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the ABI of the loaded library: compare it with SEALWAX_ABI_VERSION before any other
// call.
uint32_t sealwax_abi_version(void);

// Returns the release, such as "0.1.0"; static.
const char *sealwax_version(void);

// Returns the code of a status: the same text in every language, such as "expired"; static.
//
// SEALWAX_NULL_POINTER and SEALWAX_NOT_UTF8 are "invalid_argument" too, so that all languages have
// the same codes. An unknown status is "internal_error".
const char *sealwax_code(sealwax_status status);

// Returns whether a status is a refusal of a token (40 and up). Other errors are mistakes or
// failures of the server, and must not make a client discard its session.
bool sealwax_is_refusal(sealwax_status status);

// Generates a key from the system's randomness.
//
// Fails with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_key_generate(struct sealwax_key **key, struct sealwax_error *error);

// Derives a key from a secret that is there: a generated text of 32 characters and more, such as 64
// hexadecimal digits. It is never decoded. Never a passphrase.
//
// Fails with SEALWAX_INVALID_KEY for fewer characters, white space, one character repeated, and the text of a key.
sealwax_status sealwax_key_derive(const char *secret,
                                  size_t secret_len,
                                  struct sealwax_key **key,
                                  struct sealwax_error *error);

// Imports an existing secret: 32 random bytes or more, never a passphrase.
//
// Fails with SEALWAX_INVALID_KEY for fewer bytes, and for bytes that are all equal or printable ASCII
// alone.
sealwax_status sealwax_key_from_secret(const uint8_t *secret,
                                       size_t secret_len,
                                       struct sealwax_key **key,
                                       struct sealwax_error *error);

// Reads a key text; the checksum tells a mistyped key from a wrong one.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_key_parse(const char *text,
                                 size_t text_len,
                                 struct sealwax_key **key,
                                 struct sealwax_error *error);

// Returns the 4 bytes of the key's public id, which is readable in its tokens and session ids.
sealwax_status sealwax_key_id(const struct sealwax_key *key,
                              uint8_t (*id)[4],
                              struct sealwax_error *error);

// Returns the key's text, SEALWAX_KEY_TEXT_LEN characters: a secret, which the caller must wipe.
//
// A secret of more than 32 bytes has no text: `*len` is 0.
sealwax_status sealwax_key_to_text(const struct sealwax_key *key,
                                   char *out,
                                   size_t cap,
                                   size_t *len,
                                   struct sealwax_error *error);

// Frees a key; NULL is allowed.
void sealwax_key_free(struct sealwax_key *key);

// Reads a ring: key texts separated by commas or white space. `#` and what follows in its line is a
// comment.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_ring_parse(const char *text,
                                  size_t text_len,
                                  struct sealwax_ring **ring,
                                  struct sealwax_error *error);

// Reads the ring in a file, such as a mounted secret. To follow its changes, read it every few seconds
// and call sealwax_codec_set_keys; if it cannot be read, go on with the keys that there are.
//
// Fails with SEALWAX_INVALID_KEY if the file cannot be read, or holds no valid ring.
sealwax_status sealwax_ring_read(const char *path,
                                 size_t path_len,
                                 struct sealwax_ring **ring,
                                 struct sealwax_error *error);

// Makes the ring of a file that the caller read: of its bytes, at most 65,537, or, with a `why` of a size, of nothing: then it
// could not be read. For a host whose files C does not see.
//
// Fails as sealwax_ring_read.
sealwax_status sealwax_ring_of_file(const char *path,
                                    size_t path_len,
                                    const uint8_t *data,
                                    size_t data_len,
                                    const char *why,
                                    size_t why_len,
                                    struct sealwax_ring **ring,
                                    struct sealwax_error *error);

// Reads the ring from the environment: from the file that SEALWAX_KEYS_FILE names, from SEALWAX_KEYS, or, as
// sealwax_key_derive does, from SEALWAX_SECRET and SEALWAX_SECRET_FALLBACKS.
//
// Fails with SEALWAX_INVALID_KEY, also if more than one has the keys.
sealwax_status sealwax_ring_from_env(struct sealwax_ring **ring,
                                     struct sealwax_error *error);

// Reads the ring from variables that the caller passes, as `environ` has them: each `NAME=value` and a NUL. For a host
// whose environment C does not see. `*ring` is NULL if SEALWAX_KEYS_FILE names a file, which the caller reads.
//
// Fails as sealwax_ring_from_env.
sealwax_status sealwax_ring_from_variables(const char *variables,
                                           size_t variables_len,
                                           struct sealwax_ring **ring,
                                           struct sealwax_error *error);

// Makes a ring of the keys of `count` rings, in order. The caller keeps the rings.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_ring_join(const struct sealwax_ring *const *rings,
                                 size_t count,
                                 struct sealwax_ring **ring,
                                 struct sealwax_error *error);

// Makes a ring of `count` keys, the sealing one first. The caller keeps the keys.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_ring_new(const struct sealwax_key *const *keys,
                                size_t count,
                                struct sealwax_ring **ring,
                                struct sealwax_error *error);

// Returns the ids of the keys in order, 4 bytes each.
sealwax_status sealwax_ring_ids(const struct sealwax_ring *ring,
                                uint8_t *out,
                                size_t cap,
                                size_t *len,
                                struct sealwax_error *error);

// Frees a ring; NULL is allowed.
void sealwax_ring_free(struct sealwax_ring *ring);

// Makes a codec.
//
// `audience` names the service, best by its public address: tokens of one service never open at
// another, even under shared keys. Every replica needs the same one. `limits` may be NULL. The
// caller keeps the ring.
//
// Fails with SEALWAX_INVALID_ARGUMENT for an audience that is empty or over 1,024 bytes, or a
// limit out of its range.
sealwax_status sealwax_codec_new(const struct sealwax_ring *ring,
                                 const char *audience,
                                 size_t audience_len,
                                 const struct sealwax_limits *limits,
                                 struct sealwax_codec **codec,
                                 struct sealwax_error *error);

// Replaces the keys of a codec, in one step for all threads, and for the guards that were made of it.
// Writes to `changed`, unless it is NULL, whether the ring differs from the one before; an equal one
// changes nothing.
//
// A view keeps the keys that it was made with, and so does an exchange in progress: make new views.
// The old keys are wiped from memory when the last view of them is freed. The caller keeps the ring.
sealwax_status sealwax_codec_set_keys(const struct sealwax_codec *codec,
                                      const struct sealwax_ring *ring,
                                      bool *changed,
                                      struct sealwax_error *error);

// Frees a codec; NULL is allowed. Its views stay valid.
void sealwax_codec_free(struct sealwax_codec *codec);

// Makes the view for an authenticated principal.
//
// Take the parts from a verified credential, by the same rule in every replica: from a JWT, `iss`,
// `client_id` or `azp`, and `sub`. A part that is NULL is absent; an empty one is an error.
//
// Fails with SEALWAX_INVALID_ARGUMENT without a client or a subject, for an empty part, or for
// one over 1,024 bytes.
sealwax_status sealwax_view_new(const struct sealwax_codec *codec,
                                const char *issuer,
                                size_t issuer_len,
                                const char *client,
                                size_t client_len,
                                const char *subject,
                                size_t subject_len,
                                struct sealwax_view **view,
                                struct sealwax_error *error);

// Makes the view for the anonymous principal: anyone who holds its tokens can use them.
sealwax_status sealwax_view_new_anonymous(const struct sealwax_codec *codec,
                                          struct sealwax_view **view,
                                          struct sealwax_error *error);

// Frees a view; NULL is allowed.
void sealwax_view_free(struct sealwax_view *view);

// Returns the largest size of a token of this codec, computed from its payload limit: enough for
// sealwax_seal and sealwax_renew. 0 for NULL.
size_t sealwax_token_limit(const struct sealwax_codec *codec);

// Returns the largest size of session metadata of this codec: enough for sealwax_session_create,
// _renew and _fork. 0 for NULL.
size_t sealwax_metadata_limit(const struct sealwax_codec *codec);

// Returns the name of a kind, the same in every language, such as "request-state"; static. NULL
// for an unknown kind.
const char *sealwax_kind_name(int32_t kind);

// Checks a lifetime in seconds, as sealing does: for options that are given once and used later.
//
// Fails with SEALWAX_INVALID_ARGUMENT unless it is 1 to 4,294,967,295.
sealwax_status sealwax_check_ttl(uint64_t ttl, struct sealwax_error *error);

// Seals a payload with a new start and generation 0.
//
// The token is ASCII, fit for JSON, headers and URLs; sealwax_token_limit is its largest size.
// `lifetime` may be NULL.
//
// Fails with SEALWAX_INVALID_ARGUMENT, SEALWAX_TOO_LARGE, SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_seal(const struct sealwax_view *view,
                            const struct sealwax_purpose *purpose,
                            const struct sealwax_lifetime *lifetime,
                            const uint8_t *payload,
                            size_t payload_len,
                            char *out,
                            size_t cap,
                            size_t *len,
                            struct sealwax_error *error);

// Seals a payload as the successor of an opened token: keeps the start, so that a maximum age
// holds, and increments the generation, so that a stale token can be detected.
//
// Fails as sealwax_seal does.
sealwax_status sealwax_renew(const struct sealwax_view *view,
                             const struct sealwax_purpose *purpose,
                             const struct sealwax_lifetime *lifetime,
                             const struct sealwax_opened *opened,
                             const uint8_t *payload,
                             size_t payload_len,
                             char *out,
                             size_t cap,
                             size_t *len,
                             struct sealwax_error *error);

// Seals a payload, as sealwax_seal does, or as sealwax_renew if `before` is not NULL, and returns
// the token's id and end, which a ledger of used tokens needs.
//
// `lifetime` and `before` may be NULL. Fails as sealwax_seal does.
sealwax_status sealwax_seal_token(const struct sealwax_view *view,
                                  const struct sealwax_purpose *purpose,
                                  const struct sealwax_lifetime *lifetime,
                                  const struct sealwax_opened *before,
                                  const uint8_t *payload,
                                  size_t payload_len,
                                  char *out,
                                  size_t cap,
                                  size_t *len,
                                  struct sealwax_sealed *sealed,
                                  struct sealwax_error *error);

// Opens a presented token and returns its payload, which is always shorter than the token.
//
// With `max_age`, in seconds, a token whose session began longer ago has expired, over all its
// renewals; NULL is no limit. `opened` may be NULL.
//
// Fails with any refusal.
sealwax_status sealwax_open(const struct sealwax_view *view,
                            const struct sealwax_purpose *purpose,
                            const uint64_t *max_age,
                            const char *token,
                            size_t token_len,
                            uint8_t *out,
                            size_t cap,
                            size_t *len,
                            struct sealwax_opened *opened,
                            struct sealwax_error *error);

// Mints a session id: SEALWAX_SESSION_ID_LEN characters, fit for an HTTP header.
//
// `identifier` may be NULL. Fails with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_mint_session_id(const struct sealwax_view *view,
                                       char *out,
                                       size_t cap,
                                       size_t *len,
                                       struct sealwax_identifier *identifier,
                                       struct sealwax_error *error);

// Verifies a session id. With `max_age`, in seconds, an id made longer ago has expired; NULL is no
// limit.
//
// Possession of the id is not authentication. `identifier` may be NULL. Fails with any refusal but
// SEALWAX_WRONG_PURPOSE.
sealwax_status sealwax_verify_session_id(const struct sealwax_view *view,
                                         const char *session_id,
                                         size_t session_id_len,
                                         const uint64_t *max_age,
                                         struct sealwax_identifier *identifier,
                                         struct sealwax_error *error);

// Mints a handle, SEALWAX_HANDLE_MAX characters at most: its type, an underscore and 42
// characters. A type is a small letter, then up to 31 small letters or digits.
//
// `identifier` may be NULL. Fails with SEALWAX_INVALID_ARGUMENT for an invalid type, or one of
// "sess", "sw1", "swk1" and "yes", and with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_mint_handle(const struct sealwax_view *view,
                                   const char *handle_type,
                                   size_t handle_type_len,
                                   char *out,
                                   size_t cap,
                                   size_t *len,
                                   struct sealwax_identifier *identifier,
                                   struct sealwax_error *error);

// Mints a handle that lives for `max_age` seconds (NULL: as long as its key), and returns its end.
// Pass the same `max_age` to sealwax_verify_handle.
//
// Fails as sealwax_mint_handle does.
sealwax_status sealwax_new_handle(const struct sealwax_view *view,
                                  const char *handle_type,
                                  size_t handle_type_len,
                                  const uint64_t *max_age,
                                  char *out,
                                  size_t cap,
                                  size_t *len,
                                  struct sealwax_identifier *identifier,
                                  struct sealwax_error *error);

// Checks a type of handles, as minting does: for options that are given once and used later.
//
// Fails with SEALWAX_INVALID_ARGUMENT.
sealwax_status sealwax_check_handle_type(const char *handle_type,
                                         size_t handle_type_len,
                                         struct sealwax_error *error);

// Verifies a handle. With `max_age`, in seconds, a handle made longer ago has expired; NULL is no
// limit.
//
// `identifier` may be NULL. Fails with any refusal but SEALWAX_UNKNOWN_KEY and
// SEALWAX_PRINCIPAL_MISMATCH, which cannot be told from SEALWAX_UNAUTHENTIC for a handle.
sealwax_status sealwax_verify_handle(const struct sealwax_view *view,
                                     const char *handle_type,
                                     size_t handle_type_len,
                                     const char *handle,
                                     size_t handle_len,
                                     const uint64_t *max_age,
                                     struct sealwax_identifier *identifier,
                                     struct sealwax_error *error);

// Creates a session with a first state and returns its metadata, the JSON of
// `_meta["io.modelcontextprotocol/session"]`: sessionId, expiresAt if it ends, and state.
// sealwax_metadata_limit is its largest size.
//
// A session ends after it was idle for its `lifetime` (24 hours if that is NULL), or at the
// codec's session_max_age, whichever comes first.
//
// Fails as sealwax_seal does.
sealwax_status sealwax_session_create(const struct sealwax_view *view,
                                      const struct sealwax_lifetime *lifetime,
                                      const uint8_t *payload,
                                      size_t payload_len,
                                      char *out,
                                      size_t cap,
                                      size_t *len,
                                      struct sealwax_error *error);

// Creates a session whose state the server holds and returns its metadata: sessionId, and
// expiresAt, its latest possible end. sealwax_metadata_limit is its largest size.
//
// Fails with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_session_mint(const struct sealwax_view *view,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Opens the metadata that a client sent, as JSON: verifies the id, then opens the state bound to
// it.
//
// Fails with any refusal, and with SEALWAX_MALFORMED if the state is missing, because leaving it
// out must not reset a session.
sealwax_status sealwax_session_open(const struct sealwax_view *view,
                                    const char *metadata,
                                    size_t metadata_len,
                                    struct sealwax_session **session,
                                    struct sealwax_error *error);

// Returns the payload of a session's state, always shorter than its metadata, and the facts of its
// token. `opened` may be NULL.
sealwax_status sealwax_session_payload(const struct sealwax_session *session,
                                       uint8_t *out,
                                       size_t cap,
                                       size_t *len,
                                       struct sealwax_opened *opened,
                                       struct sealwax_error *error);

// Returns a session's id, SEALWAX_SESSION_ID_LEN characters, and its facts. `identifier` may be
// NULL.
sealwax_status sealwax_session_id(const struct sealwax_session *session,
                                  char *out,
                                  size_t cap,
                                  size_t *len,
                                  struct sealwax_identifier *identifier,
                                  struct sealwax_error *error);

// Seals a new state for the same session and returns its metadata: keeps the id and the start, and
// increments the generation.
//
// Fails as sealwax_seal does.
sealwax_status sealwax_session_renew(const struct sealwax_view *view,
                                     const struct sealwax_lifetime *lifetime,
                                     const struct sealwax_session *session,
                                     const uint8_t *payload,
                                     size_t payload_len,
                                     char *out,
                                     size_t cap,
                                     size_t *len,
                                     struct sealwax_error *error);

// Creates a session with the state of another, which continues independently, and returns its
// metadata.
//
// Fails as sealwax_seal does.
sealwax_status sealwax_session_fork(const struct sealwax_view *view,
                                    const struct sealwax_lifetime *lifetime,
                                    const struct sealwax_session *session,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Verifies a session's id alone, as sessions/delete sends it, under the codec's session_max_age.
// `identifier` may be NULL.
//
// Fails as sealwax_verify_session_id does.
sealwax_status sealwax_session_verify(const struct sealwax_view *view,
                                      const char *session_id,
                                      size_t session_id_len,
                                      struct sealwax_identifier *identifier,
                                      struct sealwax_error *error);

// Frees a session; NULL is allowed.
void sealwax_session_free(struct sealwax_session *session);

// Makes a machine by a frame of one of the kinds from SEALWAX_GUARD to SEALWAX_SQLITE. `codec` is that of a guard, and
// `parent` the machine that its kind names; elsewhere they may be NULL. The machine owns the answer, a frame: it is valid until
// the next call with that machine, or until the machine is freed.
//
// Input of a client never makes this function and the next one fail; a failure is a mistake of the adapter. Fails with
// SEALWAX_INVALID_ARGUMENT for another frame, parent or document.
sealwax_status sealwax_machine_new(const struct sealwax_codec *codec,
                                   const struct sealwax_machine *parent,
                                   const uint8_t *frame,
                                   size_t frame_len,
                                   struct sealwax_machine **machine,
                                   const uint8_t **answer,
                                   size_t *answer_len,
                                   struct sealwax_error *error);

// Tells a machine something by a frame of one of the kinds from SEALWAX_EVENT to SEALWAX_ANSWERED. It owns the answer, as
// sealwax_machine_new says.
//
// Fails with SEALWAX_INVALID_ARGUMENT for what does not match its last answer, and for another frame or document; the machine
// is unchanged then. Sealing fails besides as sealwax_seal does, and forking as sealwax_session_create.
sealwax_status sealwax_machine_on(struct sealwax_machine *machine,
                                  const uint8_t *frame,
                                  size_t frame_len,
                                  const uint8_t **answer,
                                  size_t *answer_len,
                                  struct sealwax_error *error);

// Frees a machine, which cancels an exchange at any step; NULL is allowed.
void sealwax_machine_free(struct sealwax_machine *machine);

// Evaluates a command in a store's transaction: `now` is the store's own clock in Unix seconds,
// `values` a JSON array of the values of the command's keys, null for a missing one. Returns a
// JSON object: `reply`, and the `writes` to do in the same transaction (LEDGER.md).
//
// Fails with SEALWAX_INVALID_ARGUMENT for an invalid command, and unless there is one value for
// each key.
sealwax_status sealwax_ledger_evaluate(const char *command,
                                       size_t command_len,
                                       uint64_t now,
                                       const char *values,
                                       size_t values_len,
                                       char *out,
                                       size_t cap,
                                       size_t *len,
                                       struct sealwax_error *error);

// Identifies a text: a sealed token, a session id, a handle or a key text.
//
// Fails with SEALWAX_TOO_LARGE over 2 MiB, and with SEALWAX_MALFORMED, SEALWAX_UNSUPPORTED or
// SEALWAX_INVALID_KEY if it is none of these.
sealwax_status sealwax_inspect(const char *text,
                               size_t text_len,
                               struct sealwax_inspection *inspection,
                               struct sealwax_error *error);

// Identifies a text in words for people: lines as `sealwax inspect` prints them, without a newline
// at the end.
//
// `ring`, which may be NULL, tells whether it has the text's key; `now` is for the age, in Unix
// seconds. The words may change in any release. Fails as sealwax_inspect does.
sealwax_status sealwax_report_words(const char *text,
                                    size_t text_len,
                                    const struct sealwax_ring *ring,
                                    uint64_t now,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Identifies a text as JSON: `what` ("token", "session-id", "handle" or "key") and `length`, and
// where there is one `kind`, `handle_type`, `key_id`, `in_ring`, `token_id` and `created_at_ms`.
//
// `ring` may be NULL: `in_ring` is null then. Fails as sealwax_inspect does.
sealwax_status sealwax_report_json(const char *text,
                                   size_t text_len,
                                   const struct sealwax_ring *ring,
                                   char *out,
                                   size_t cap,
                                   size_t *len,
                                   struct sealwax_error *error);

// Computes the 32 bytes that name a request, from a method, its target (the `name` of tools/call
// and prompts/get, the `uri` of resources/read) and its arguments as JSON, as received.
//
// Arguments that are NULL, empty or `null` are absent, which differs from `{}`.
// sealwax_request_context_only binds to a few of them.
//
// Fails with SEALWAX_INVALID_ARGUMENT for a method or target that is empty or over 1,024 bytes,
// and for arguments that languages read differently: a number of magnitude 2^53 or more, a
// duplicate key in an object, a lone surrogate, more than 100 levels, or invalid JSON.
sealwax_status sealwax_request_context(const char *method,
                                       size_t method_len,
                                       const char *target,
                                       size_t target_len,
                                       const char *arguments,
                                       size_t arguments_len,
                                       uint8_t (*context)[32],
                                       struct sealwax_error *error);

// Computes the 32 bytes that name a request, from some of its arguments: those that decide what
// the request does.
//
// `names` are `names_count` texts with a NUL at the end. The other arguments may change from one
// round to the next, and are not checked.
//
// Fails as sealwax_request_context does, and with SEALWAX_INVALID_ARGUMENT if the arguments have
// none of the names: a misspelt name must not leave a token unbound.
sealwax_status sealwax_request_context_only(const char *method,
                                            size_t method_len,
                                            const char *target,
                                            size_t target_len,
                                            const char *arguments,
                                            size_t arguments_len,
                                            const char *const *names,
                                            size_t names_count,
                                            uint8_t (*context)[32],
                                            struct sealwax_error *error);

// Returns the members of a method's messages that carry a token, as JSON, or `null` if there are
// none:
// `{"kind": "cursor", "param": "cursor", "result": "nextCursor", "target": null,
// "needsCaller": false}`.
//
// `param` is the member of `params` in which the token returns, `result` the member of the result
// in which it is sent, `target` the member of `params` that names the target of a request.
// `needsCaller`: its handler may make a token, and does not run without a caller.
sealwax_status sealwax_token_fields(const char *method,
                                    size_t method_len,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Returns the principal of a verified JWT or of an introspection response, as JSON:
// `{"issuer": ..., "client": ..., "subject": ...}`, the client `null` if there is none.
//
// `claims` is the JSON of the claims: `iss` and `sub`, which are required, and `client_id`, or
// else `azp`, if present. Every replica must use this one rule, so that a user is the same at
// each.
//
// Fails with SEALWAX_INVALID_ARGUMENT if `iss` or `sub` is missing, for a part that is not a
// string, is empty or over 1,024 bytes, and for anything but a JSON object without duplicate keys.
sealwax_status sealwax_principal_from_claims(const char *claims,
                                             size_t claims_len,
                                             char *out,
                                             size_t cap,
                                             size_t *len,
                                             struct sealwax_error *error);

// Returns the answer for the client, as JSON: `{"error": ...}` with a JSON-RPC error object,
// `{"httpStatus": ...}`, or `{"toolResult": ...}`.
//
// `profile` is the part of the protocol: sep-1359, data-layer, data-layer-required, request-state,
// cursor, mcp-session-id or handle. `status` is that of the failed call. Every refusal gets the
// profile's one answer, so that the server does not reveal which check failed. So does SEALWAX_OK,
// for refusals by the server itself. Any other status gets an internal error. `session_id` is the
// one that the client sent, or NULL: it is echoed only if the profile does so and it is well
// formed.
//
// Fails with SEALWAX_INVALID_ARGUMENT for an unknown profile.
sealwax_status sealwax_answer(const char *profile,
                              size_t profile_len,
                              sealwax_status status,
                              const char *session_id,
                              size_t session_id_len,
                              char *out,
                              size_t cap,
                              size_t *len,
                              struct sealwax_error *error);

// Makes a clock that stands at `now_ms`, in Unix milliseconds.
sealwax_status sealwax_test_clock_new(uint64_t now_ms,
                                      struct sealwax_test_clock **clock,
                                      struct sealwax_error *error);

// Sets the clock, for every codec on it; backwards too.
sealwax_status sealwax_test_clock_set(const struct sealwax_test_clock *clock,
                                      uint64_t now_ms,
                                      struct sealwax_error *error);

// Frees a clock; NULL is allowed. The codecs on it stay valid, at its last time.
void sealwax_test_clock_free(struct sealwax_test_clock *clock);

// Makes a codec on this clock, as sealwax_codec_new does on the system's. Its randomness is the system's.
sealwax_status sealwax_test_codec_new(const struct sealwax_ring *ring,
                                      const char *audience,
                                      size_t audience_len,
                                      const struct sealwax_limits *limits,
                                      const struct sealwax_test_clock *clock,
                                      struct sealwax_codec **codec,
                                      struct sealwax_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALWAX_H */
