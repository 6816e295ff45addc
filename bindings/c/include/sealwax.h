// Sealwax: sealed, signed session tokens for MCP servers.
//
// The same for every function:
//
// - What can fail returns a status: SEALWAX_OK (0), or one of the numbers below, which are grouped
//   in tens and never change their meaning. On any other status than SEALWAX_OK nothing is written
//   but `*error`, and `*len` where a buffer is too small.
// - Arguments come in the order: self, inputs, outputs, error. `error` may be NULL, and so may what
//   a comment says; any other pointer must not be, which is checked (SEALWAX_NULL_POINTER).
// - Text and bytes are a pointer and a size, with no NUL at the end, neither in nor out. (NULL, 0)
//   is empty. Text is UTF-8.
// - Results go to the caller's memory: (out, cap, len) takes up to `cap` bytes at `out`, and how
//   many they are at `len`. SEALWAX_BUFFER_TOO_SMALL tells the size needed at `len`, so that
//   (NULL, 0, &len) asks for it. What is sealed or minted is new with every call, and may differ in
//   size; the limits below always suffice.
// - What _new, _generate, _from_secret, _parse, _from_env, _open and those that begin an exchange make
//   belongs to the caller, who ends it with _free, in any order. No object ever changes but an
//   exchange and a memory, so every thread may use every other object, as long as nobody uses one that was freed.
// - Structs never change within an ABI version: what is new comes with a function of its own.
// - Sizes are in bytes, characters are ASCII, and times are Unix times in the unit that is named.
// - No fault in sealwax aborts the process, and keys are wiped when they are freed. The library
//   keeps no state of its own; a process may fork() at any time.


#ifndef SEALWAX_H
#define SEALWAX_H

// Generated from bindings/c/src by cbindgen: edit there, then run `make header`.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The ABI of this header. It changes when a program compiled against another could break.
#define SEALWAX_ABI_VERSION 1

// Success.
#define SEALWAX_OK 0

// The caller's own mistake; the message says what was expected.
#define SEALWAX_INVALID_ARGUMENT 10

// A pointer that must not be NULL was.
#define SEALWAX_NULL_POINTER 11

// A text is not UTF-8.
#define SEALWAX_NOT_UTF8 12

// The buffer is too small; `*len` is the size needed, and nothing else was written.
#define SEALWAX_BUFFER_TOO_SMALL 13

// A key text or a ring that cannot be used.
#define SEALWAX_INVALID_KEY 20

// The system gave no randomness, so nothing was sealed.
#define SEALWAX_ENTROPY_UNAVAILABLE 30

// A fault in sealwax itself.
#define SEALWAX_INTERNAL_ERROR 31

// A token, or a payload, over its limit.
#define SEALWAX_TOO_LARGE 40

// A later version of the format, or a kind of token that version 1 does not know.
#define SEALWAX_UNSUPPORTED 41

// Not a token of this format, or spelled in another way than the one that counts.
#define SEALWAX_MALFORMED 42

// A token of another kind, or a handle of another type, than asked for.
#define SEALWAX_WRONG_PURPOSE 43

// Sealed under a key that the ring does not hold.
#define SEALWAX_UNKNOWN_KEY 50

// Forged, altered, or bound to something else; nobody can tell which.
#define SEALWAX_UNAUTHENTIC 51

// Authentic, but issued to somebody else.
#define SEALWAX_PRINCIPAL_MISMATCH 52

// Issued further in the future than the allowed clock skew.
#define SEALWAX_NOT_YET_VALID 60

// Past its own lifetime or the given maximum age.
#define SEALWAX_EXPIRED 61

// The room for a message.
#define SEALWAX_MESSAGE_LEN 252

// The size of a key's text.
#define SEALWAX_KEY_TEXT_LEN 53

// The most bytes of a ring's ids.
#define SEALWAX_RING_IDS_MAX 64

// The size of a session id.
#define SEALWAX_SESSION_ID_LEN 64

// The most bytes of a handle.
#define SEALWAX_HANDLE_MAX 75

// The most bytes of an answer.
#define SEALWAX_ANSWER_MAX 4096

// The most bytes of a method's carried members.
#define SEALWAX_CARRIED_MAX 256

// The most bytes of a principal: three texts of 1,024 bytes, all of them escaped.
#define SEALWAX_PRINCIPAL_MAX 20480

// `state` of a data-layer session; needs a session id. The functions of sessions do all of it.
#define SEALWAX_KIND_STATE 1

// `requestState` of a multi-round-trip request; needs a context.
#define SEALWAX_KIND_REQUEST_STATE 2

// A self-contained session for a header that cannot be renewed (`Mcp-Session-Id`).
#define SEALWAX_KIND_SESSION 3

// A cursor; needs the list method as its label, such as "tools/list".
#define SEALWAX_KIND_CURSOR 4

// State that a handle's holder keeps; needs the handle's type as its label.
#define SEALWAX_KIND_HANDLE_STATE 5

// The application's own; needs a label, and may have a session id and a context.
#define SEALWAX_KIND_CUSTOM 127

// A time that never comes.
#define SEALWAX_NEVER 18446744073709551615ull

// A sealed token.
#define SEALWAX_IS_TOKEN 1

// A session id.
#define SEALWAX_IS_SESSION_ID 2

// A handle.
#define SEALWAX_IS_HANDLE 3

// A key text, its checksum right: a secret.
#define SEALWAX_IS_KEY 4

// Seals and opens the tokens of one service: a key ring, an audience and limits.
typedef struct sealwax_codec sealwax_codec;

// What a guard knows of one message, from when it comes to when its answer leaves. Unlike every other
// object it changes, so it serves one thread at a time.
typedef struct sealwax_exchange sealwax_exchange;

// The rules of a server's guard: a codec and settings.
typedef struct sealwax_guard sealwax_guard;

// A secret and what is derived from it. It is wiped when the last object that shares it is
// freed.
typedef struct sealwax_key sealwax_key;

// A ledger in the memory of one process. Every thread may use it, one at a time.
typedef struct sealwax_memory sealwax_memory;

// 1 to 16 keys in order: the first seals, every one opens.
//
// To rotate, let every replica know a key before it seals, and keep it until what it made has
// expired: [old, new] everywhere, then [new, old], then [new].
typedef struct sealwax_ring sealwax_ring;

// A data-layer session that was opened: its id and its state, every check passed.
typedef struct sealwax_session sealwax_session;

// A codec for one principal, with the principal's tags computed: it serves a whole request.
typedef struct sealwax_view sealwax_view;

// How a call ended: SEALWAX_OK, or another of the numbers above.
typedef int32_t sealwax_status;

// What went wrong in a call: for the server's log, never for the client.
//
// It belongs to the caller; a call that fails fills it in, unless it is given NULL. It holds no
// key, no token and no payload.
typedef struct sealwax_error {
  // The status that the call returned.
  sealwax_status status;
  // What was expected and what was found, in UTF-8, ended by a NUL; cut where it is longer.
  char message[SEALWAX_MESSAGE_LEN];
} sealwax_error;

// The limits of a codec; one that is NULL is the default.
typedef struct sealwax_limits {
  // The most bytes of a payload: 4,096 unless set, 1 MiB at most.
  const uint64_t *payload;
  // How many seconds another replica's clock may be ahead: 60 unless set, 300 at most.
  const uint64_t *skew;
  // How many seconds old a data-layer session may become, however often it is renewed: 30
  // days unless set.
  const uint64_t *session_max_age;
} sealwax_limits;

// What a sealed token is for and what it is bound to. The two sides must be given the same; what
// differs in any field is refused. NULL is absent; an empty session id or context is refused.
typedef struct sealwax_purpose {
  // SEALWAX_KIND_STATE to SEALWAX_KIND_CUSTOM.
  int32_t kind;
  // The list method, the type of the handle, the name of a custom token; else NULL.
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

// How long what is sealed lives. Where a function takes one, NULL is the kind's own time: 600 s
// for request state, 30 days for self-contained sessions, 24 hours for the rest.
typedef struct sealwax_lifetime {
  // Seconds, 1 to 4,294,967,295; 0 with `no_expiry`.
  uint64_t ttl;
  // Whether it never expires by itself: it opens as long as its key is in the ring.
  bool no_expiry;
} sealwax_lifetime;

// What an authentic token tells beside its payload, every check passed.
typedef struct sealwax_opened {
  // When it was sealed, in Unix seconds.
  uint64_t issued_at;
  // When its own lifetime ends, in Unix seconds; SEALWAX_NEVER for no expiry.
  uint64_t expires_at;
  // When its session began, in Unix seconds: kept across renewals.
  uint64_t started_at;
  // How often it was renewed; stops at its maximum.
  uint32_t generation;
  // Whether an older key made it, so that it should be sealed anew before that key goes.
  bool needs_reseal;
  // Whether it is time to seal it anew though nothing was written: half of its life is over, or
  // an older key made it.
  bool needs_renewal;
  // What a ledger of spent tokens counts by: no other spelling of the token changes it.
  uint8_t token_id[16];
} sealwax_opened;

// What a token that was sealed tells.
typedef struct sealwax_sealed {
  // When it was sealed, in Unix seconds.
  uint64_t issued_at;
  // When its own lifetime ends, in Unix seconds; SEALWAX_NEVER for no expiry.
  uint64_t expires_at;
  // What a ledger of spent tokens will count by.
  uint8_t token_id[16];
} sealwax_sealed;

// What a session id or a handle tells, minted or verified.
typedef struct sealwax_identifier {
  // When it was made, in Unix milliseconds.
  uint64_t created_at_ms;
  // When it ends under the max_age that was given, in Unix milliseconds; SEALWAX_NEVER where
  // none was.
  uint64_t ends_at_ms;
  // What makes it unique: what logs and a server's store may know it by, for unlike the text
  // it lets nobody continue a session.
  uint8_t ulid[16];
  // Whether an older key made it, so that it ends when that key goes.
  bool needs_reseal;
} sealwax_identifier;

// What a text claims to be. Nothing of it is verified.
typedef struct sealwax_inspection {
  // SEALWAX_IS_TOKEN to SEALWAX_IS_KEY.
  int32_t what;
  // Of a token: its kind.
  int32_t kind;
  // When it says it was made, in Unix milliseconds; of a session id or a handle.
  uint64_t created_at_ms;
  // The key that it says made it, or that it is; not of a handle.
  uint8_t key_id[4];
  // Of a token: its id, the same as of the token when it opens.
  uint8_t token_id[16];
  // The size of the type.
  uint32_t handle_type_len;
  // Of a handle: its type.
  uint8_t handle_type[32];
} sealwax_inspection;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The ABI of the library that was loaded: compare it with SEALWAX_ABI_VERSION before anything
// else.
uint32_t sealwax_abi_version(void);

// The release, such as "0.1.0"; static.
const char *sealwax_version(void);

// The code of a status: the same text in every language, such as "expired"; static.
//
// SEALWAX_NULL_POINTER and SEALWAX_NOT_UTF8 are "invalid_argument" too, so that the codes are
// those of every language. A number that is no status is "internal_error".
const char *sealwax_code(sealwax_status status);

// Whether a status says that a token was refused (40 and up), as opposed to a mistake or a
// failure on the server's side, which must not make a client throw its session away.
bool sealwax_is_refusal(sealwax_status status);

// Makes a new key from the system's randomness.
//
// Fails with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_key_generate(struct sealwax_key **key, struct sealwax_error *error);

// Makes a key of a secret that already exists: 32 random bytes or more, never a passphrase.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_key_from_secret(const uint8_t *secret,
                                       size_t secret_len,
                                       struct sealwax_key **key,
                                       struct sealwax_error *error);

// Reads a key text; its checksum tells a mistyped key from a wrong one.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_key_parse(const char *text,
                                 size_t text_len,
                                 struct sealwax_key **key,
                                 struct sealwax_error *error);

// Gives the 4 bytes of the key's public name, which stand readable in what it seals.
sealwax_status sealwax_key_id(const struct sealwax_key *key,
                              uint8_t (*id)[4],
                              struct sealwax_error *error);

// Gives the key's text, SEALWAX_KEY_TEXT_LEN characters: a secret, which the caller wipes.
//
// A secret of more than 32 bytes has no text: `*len` is 0.
sealwax_status sealwax_key_to_text(const struct sealwax_key *key,
                                   char *out,
                                   size_t cap,
                                   size_t *len,
                                   struct sealwax_error *error);

// Frees a key; NULL is fine.
void sealwax_key_free(struct sealwax_key *key);

// Reads a ring: key texts separated by commas or white space.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_ring_parse(const char *text,
                                  size_t text_len,
                                  struct sealwax_ring **ring,
                                  struct sealwax_error *error);

// Reads the ring in the environment variable SEALWAX_KEYS.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_ring_from_env(struct sealwax_ring **ring, struct sealwax_error *error);

// Makes a ring of `count` keys, the sealing one first. The keys remain the caller's.
//
// Fails with SEALWAX_INVALID_KEY.
sealwax_status sealwax_ring_new(const struct sealwax_key *const *keys,
                                size_t count,
                                struct sealwax_ring **ring,
                                struct sealwax_error *error);

// Gives the ids of the keys in order, 4 bytes each.
sealwax_status sealwax_ring_ids(const struct sealwax_ring *ring,
                                uint8_t *out,
                                size_t cap,
                                size_t *len,
                                struct sealwax_error *error);

// Frees a ring; NULL is fine.
void sealwax_ring_free(struct sealwax_ring *ring);

// Makes a codec.
//
// `audience` names the service, best by its public address: tokens of one service never open at
// another, even under shared keys. Every replica must be given the same. `limits` may be NULL.
// The ring remains the caller's.
//
// Fails with SEALWAX_INVALID_ARGUMENT for an audience that is empty or over 1,024 bytes, or a
// limit out of its range.
sealwax_status sealwax_codec_new(const struct sealwax_ring *ring,
                                 const char *audience,
                                 size_t audience_len,
                                 const struct sealwax_limits *limits,
                                 struct sealwax_codec **codec,
                                 struct sealwax_error *error);

// Frees a codec; NULL is fine. Its views live on.
void sealwax_codec_free(struct sealwax_codec *codec);

// Makes the view for an authenticated principal.
//
// Take the parts from a verified credential, by one rule in every replica: of a JWT, `iss`,
// `client_id` or `azp`, and `sub`. A part that is NULL is absent; one that is empty is refused.
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

// Makes the view for nobody in particular: whoever holds a token of it can use it.
sealwax_status sealwax_view_new_anonymous(const struct sealwax_codec *codec,
                                          struct sealwax_view **view,
                                          struct sealwax_error *error);

// Frees a view; NULL is fine.
void sealwax_view_free(struct sealwax_view *view);

// The most bytes of a token of this codec, by its payload limit: a buffer of this size holds
// whatever sealwax_seal and sealwax_renew make. 0 for NULL.
size_t sealwax_token_limit(const struct sealwax_codec *codec);

// The most bytes of session metadata of this codec: a buffer of this size holds whatever
// sealwax_session_create, _renew and _fork make. 0 for NULL.
size_t sealwax_metadata_limit(const struct sealwax_codec *codec);

// The name of a kind, the same in every language, such as "request-state"; static. NULL where
// there is no such kind.
const char *sealwax_kind_name(int32_t kind);

// How many seconds a token of a kind lives unless told otherwise; 0 where there is no such kind.
uint32_t sealwax_default_ttl(int32_t kind);

// Checks the seconds of a lifetime, as sealing will: for options that are given once and used later.
//
// Fails with SEALWAX_INVALID_ARGUMENT unless they are 1 to 4,294,967,295.
sealwax_status sealwax_check_ttl(uint64_t ttl,
                                 struct sealwax_error *error);

// Seals a payload: a new life, of generation 0.
//
// The token is ASCII, fit for JSON, headers and URLs, and no longer than sealwax_token_limit
// says. `lifetime` may be NULL.
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

// Seals a payload in place of what was opened: the start is kept, so that a maximum age holds,
// and the generation is one more, so that a stale token can be told.
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

// Seals a payload, as sealwax_seal does, or as sealwax_renew where `before` is not NULL, and tells
// what a ledger of spent tokens has to know: the token's id and its end.
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

// Opens what came back and gives its payload, which is always shorter than the token.
//
// With `max_age`, in seconds, what began longer ago has expired, however often it was renewed;
// NULL is none. `opened` may be NULL.
//
// Fails with every refusal.
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

// Verifies a session id that came back. With `max_age`, in seconds, one that was made longer ago
// has expired; NULL is none.
//
// It proves nothing about who presents it: possession is not authentication. `identifier` may be
// NULL. Fails with every refusal but SEALWAX_WRONG_PURPOSE.
sealwax_status sealwax_verify_session_id(const struct sealwax_view *view,
                                         const char *session_id,
                                         size_t session_id_len,
                                         const uint64_t *max_age,
                                         struct sealwax_identifier *identifier,
                                         struct sealwax_error *error);

// Mints a handle, SEALWAX_HANDLE_MAX characters at most: its type, an underscore and 42
// characters. A type is a small letter, then up to 31 small letters or digits.
//
// `identifier` may be NULL. Fails with SEALWAX_INVALID_ARGUMENT for another type, or one of
// "sess", "sw1" and "swk1", and with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_mint_handle(const struct sealwax_view *view,
                                   const char *handle_type,
                                   size_t handle_type_len,
                                   char *out,
                                   size_t cap,
                                   size_t *len,
                                   struct sealwax_identifier *identifier,
                                   struct sealwax_error *error);

// Mints a handle that will be good for `max_age` seconds (NULL is for as long as its key is), and
// tells when it ends. sealwax_verify_handle must be given the same `max_age`.
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

// Checks a type of handles, as minting will: for options that are given once and used later.
//
// Fails with SEALWAX_INVALID_ARGUMENT.
sealwax_status sealwax_check_handle_type(const char *handle_type,
                                         size_t handle_type_len,
                                         struct sealwax_error *error);

// Verifies a handle that came back. With `max_age`, in seconds, one that was made longer ago has
// expired; NULL is none.
//
// `identifier` may be NULL. Fails with every refusal but SEALWAX_UNKNOWN_KEY and
// SEALWAX_PRINCIPAL_MISMATCH, which a handle cannot tell from SEALWAX_UNAUTHENTIC.
sealwax_status sealwax_verify_handle(const struct sealwax_view *view,
                                     const char *handle_type,
                                     size_t handle_type_len,
                                     const char *handle,
                                     size_t handle_len,
                                     const uint64_t *max_age,
                                     struct sealwax_identifier *identifier,
                                     struct sealwax_error *error);

// Creates a session with a first state and gives its metadata, the JSON of
// `_meta["io.modelcontextprotocol/session"]`: sessionId, expiresAt where it ends, and state. It
// is no longer than sealwax_metadata_limit says.
//
// A session ends once it was idle for its `lifetime` (24 hours where that is NULL), or is as old
// as the codec's session_max_age, whichever comes first.
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

// Creates a session whose state the server holds and gives its metadata: sessionId, and expiresAt,
// when it ends at the latest. It is no longer than sealwax_metadata_limit says.
//
// Fails with SEALWAX_ENTROPY_UNAVAILABLE.
sealwax_status sealwax_session_mint(const struct sealwax_view *view,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Opens the metadata that a client sent, as JSON: verifies the id, then opens the state that is
// bound to it.
//
// Fails with every refusal, and with SEALWAX_MALFORMED where the state is missing, for leaving
// it out must not reset a session.
sealwax_status sealwax_session_open(const struct sealwax_view *view,
                                    const char *metadata,
                                    size_t metadata_len,
                                    struct sealwax_session **session,
                                    struct sealwax_error *error);

// Gives the payload of a session's state, always shorter than its metadata, and what its token
// tells. `opened` may be NULL.
sealwax_status sealwax_session_payload(const struct sealwax_session *session,
                                       uint8_t *out,
                                       size_t cap,
                                       size_t *len,
                                       struct sealwax_opened *opened,
                                       struct sealwax_error *error);

// Gives a session's id, SEALWAX_SESSION_ID_LEN characters, and what it tells. `identifier` may
// be NULL.
sealwax_status sealwax_session_id(const struct sealwax_session *session,
                                  char *out,
                                  size_t cap,
                                  size_t *len,
                                  struct sealwax_identifier *identifier,
                                  struct sealwax_error *error);

// Writes a new state for the same session and gives its metadata: the id and the start are kept,
// the generation is one more.
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

// Creates a session that begins with the state of another, which goes on beside it, and gives
// its metadata.
//
// Fails as sealwax_seal does.
sealwax_status sealwax_session_fork(const struct sealwax_view *view,
                                    const struct sealwax_lifetime *lifetime,
                                    const struct sealwax_session *session,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Verifies a session's id alone, as sessions/delete sends it, under the codec's
// session_max_age. `identifier` may be NULL.
//
// Fails as sealwax_verify_session_id does.
sealwax_status sealwax_session_verify(const struct sealwax_view *view,
                                      const char *session_id,
                                      size_t session_id_len,
                                      struct sealwax_identifier *identifier,
                                      struct sealwax_error *error);

// Frees a session; NULL is fine.
void sealwax_session_free(struct sealwax_session *session);

// Makes a guard.
//
// `settings` and the documents of the functions below are JSON, in the form of docs/engine.md. What a client
// sent never makes these functions fail; what fails is the adapter's own mistake.
//
// Fails with SEALWAX_INVALID_ARGUMENT for settings that contradict themselves.
sealwax_status sealwax_guard_new(const struct sealwax_codec *codec,
                                 const char *settings,
                                 size_t settings_len,
                                 struct sealwax_guard **guard,
                                 struct sealwax_error *error);

// Frees a guard; NULL is fine. Its exchanges live on until they are freed too.
void sealwax_guard_free(struct sealwax_guard *guard);

// Begins the exchange of a message at an SDK's handlers, and tells the first step.
//
// `arguments` are the request's, as JSON; NULL is absent. The step lies in the exchange: it is good until
// the next call with that exchange, or until the exchange is freed.
sealwax_status sealwax_guard_message(const struct sealwax_guard *guard,
                                     const char *document,
                                     size_t document_len,
                                     const char *arguments,
                                     size_t arguments_len,
                                     struct sealwax_exchange **exchange,
                                     const char **step,
                                     size_t *step_len,
                                     struct sealwax_error *error);

// Begins the exchange of a message around HTTP or stdio, before the SDK sees it, and tells the first step.
//
// `initialize` are the params of such a request, as JSON; NULL is absent. The step is as
// sealwax_guard_message has it.
sealwax_status sealwax_guard_transport(const struct sealwax_guard *guard,
                                       const char *document,
                                       size_t document_len,
                                       const char *initialize,
                                       size_t initialize_len,
                                       struct sealwax_exchange **exchange,
                                       const char **step,
                                       size_t *step_len,
                                       struct sealwax_error *error);

// Begins the exchange that refuses whatever of a principal began until now, and tells the first step, as
// sealwax_guard_message does. `principal` is JSON in the form of docs/engine.md; `lives` is the longest life of
// anything that the service gives out, in seconds, and 0 for ever. It ends with the step `done`, or with `reply`
// where it is not known that anybody was signed out.
//
// Fails with SEALWAX_INVALID_ARGUMENT for a guard without a ledger, and for what is no principal.
sealwax_status sealwax_guard_revoke(const struct sealwax_guard *guard,
                                    const char *principal,
                                    size_t principal_len,
                                    uint64_t lives,
                                    struct sealwax_exchange **exchange,
                                    const char **step,
                                    size_t *step_len,
                                    struct sealwax_error *error);

// Takes what came of the last step, and tells the next one.
//
// `value` is JSON that some events come with; NULL is absent.
//
// Fails with SEALWAX_INVALID_ARGUMENT for an event that does not follow the last step; the exchange is as
// it was.
sealwax_status sealwax_exchange_on(struct sealwax_exchange *exchange,
                                   const char *event,
                                   size_t event_len,
                                   const char *value,
                                   size_t value_len,
                                   const char **step,
                                   size_t *step_len,
                                   struct sealwax_error *error);

// Begins an exchange for what a handler does with a handle, and tells its first step. It is freed by itself.
//
// `value` is what the handle shall hold, as JSON; NULL is absent.
//
// Fails with SEALWAX_INVALID_ARGUMENT for a document that is no act.
sealwax_status sealwax_exchange_act(const struct sealwax_exchange *exchange,
                                    const char *act,
                                    size_t act_len,
                                    const char *value,
                                    size_t value_len,
                                    struct sealwax_exchange **acting,
                                    const char **step,
                                    size_t *step_len,
                                    struct sealwax_error *error);

// Writes the value of the request's session, as JSON: it leaves with the result.
//
// Fails with SEALWAX_INVALID_ARGUMENT where there is nothing to write to, or the handler is over.
sealwax_status sealwax_exchange_write(struct sealwax_exchange *exchange,
                                      const char *value,
                                      size_t value_len,
                                      struct sealwax_error *error);

// Writes what functions of the author's made of the session's value, as JSON. If somebody else wrote in the
// meantime, the step `update` asks for what they make of that.
//
// Fails as sealwax_exchange_write does.
sealwax_status sealwax_exchange_update(struct sealwax_exchange *exchange,
                                       const char *value,
                                       size_t value_len,
                                       struct sealwax_error *error);

// Makes a new session that begins with what was written, else with what came, and gives its metadata, as a
// step is given.
//
// Fails as sealwax_exchange_write and sealwax_session_create do.
sealwax_status sealwax_exchange_fork(struct sealwax_exchange *exchange,
                                     const char **metadata,
                                     size_t *metadata_len,
                                     struct sealwax_error *error);

// Frees an exchange, whatever its step: so it is cancelled; NULL is fine.
void sealwax_exchange_free(struct sealwax_exchange *exchange);

// Gives a text that a store needs, which stays valid for ever: the Lua scripts `open`, `admit`, `commit` and
// `revoke` for Redis and Valkey; for SQLite `sqlite-connect`, `sqlite-normal`, `sqlite-create`, `sqlite-begin`,
// `sqlite-now`, `sqlite-read`, `sqlite-write`, `sqlite-delete` and `sqlite-sweep` (LEDGER.md).
//
// Fails with SEALWAX_INVALID_ARGUMENT for another name.
sealwax_status sealwax_ledger_text(const char *name,
                                   size_t name_len,
                                   const char **text,
                                   size_t *text_len,
                                   struct sealwax_error *error);

// Judges a command in a transaction of a store's: `now` is the store's own clock in Unix seconds, `values` a
// JSON array of the values of the command's keys, null where there is none. Gives a JSON object: `reply`, and
// the `writes` that belong to the same transaction (LEDGER.md).
//
// Fails with SEALWAX_INVALID_ARGUMENT for what is no command, and for other values than of its keys.
sealwax_status sealwax_ledger_judge(const char *command,
                                    size_t command_len,
                                    uint64_t now,
                                    const char *values,
                                    size_t values_len,
                                    char *out,
                                    size_t cap,
                                    size_t *len,
                                    struct sealwax_error *error);

// Tells whether a Redis or Valkey is fit to be a ledger, by its answer to `INFO`: a JSON object of two arrays of
// texts, `refused` and `warned`. One with something in `refused` must not be used.
sealwax_status sealwax_ledger_fitness(const char *info,
                                      size_t info_len,
                                      char *out,
                                      size_t cap,
                                      size_t *len,
                                      struct sealwax_error *error);

// Makes a ledger in memory that takes about so many bytes, and remembers from `now` on, in Unix seconds.
sealwax_status sealwax_memory_new(size_t room,
                                  uint64_t now,
                                  struct sealwax_memory **memory,
                                  struct sealwax_error *error);

// Does a command, at `now` in Unix seconds. The reply, a JSON array of texts, lies in the ledger: it is good
// until the next call with that ledger.
//
// Fails with SEALWAX_INVALID_ARGUMENT for what is no command.
sealwax_status sealwax_memory_run(struct sealwax_memory *memory,
                                  const char *command,
                                  size_t command_len,
                                  uint64_t now,
                                  const char **reply,
                                  size_t *reply_len,
                                  struct sealwax_error *error);

// Frees a ledger in memory; NULL is fine.
void sealwax_memory_free(struct sealwax_memory *memory);

// Tells what a text is: a sealed token, a session id, a handle or a key text.
//
// Fails with SEALWAX_TOO_LARGE over 2 MiB, and with SEALWAX_MALFORMED, SEALWAX_UNSUPPORTED or
// SEALWAX_INVALID_KEY where it is none of these.
sealwax_status sealwax_inspect(const char *text,
                               size_t text_len,
                               struct sealwax_inspection *inspection,
                               struct sealwax_error *error);

// Gives the 32 bytes that name a request: a method, its target (the `name` of tools/call and
// prompts/get, the `uri` of resources/read) and its arguments as JSON, as they came.
//
// Arguments that are NULL, empty or `null` are absent, which is not the same as `{}`.
// sealwax_request_context_only binds to a few of them.
//
// Fails with SEALWAX_INVALID_ARGUMENT for a method or target that is empty or over 1,024 bytes,
// and for arguments that are not the same in every language: a number of magnitude 2^53 or more,
// a key twice in an object, a lone surrogate, more than 100 levels, or no JSON at all.
sealwax_status sealwax_request_context(const char *method,
                                       size_t method_len,
                                       const char *target,
                                       size_t target_len,
                                       const char *arguments,
                                       size_t arguments_len,
                                       uint8_t (*context)[32],
                                       struct sealwax_error *error);

// Gives the 32 bytes that name a request by some of its arguments: those that decide what is done.
//
// `names` are `names_count` texts that a NUL ends. The other arguments may differ from one round
// to the next, and are not judged.
//
// Fails as sealwax_request_context does, and with SEALWAX_INVALID_ARGUMENT where the arguments
// have none of the names: a misspelt one must not leave a token unbound.
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

// Gives where the messages of a method carry a token, as JSON: `{"kind": "cursor", "param":
// "cursor", "result": "nextCursor", "target": null}`, or `null` where they carry none.
//
// `param` is the member of `params` by which the token comes back, `result` the one of the result
// by which it leaves, `target` the member of `params` that names the target of a request.
sealwax_status sealwax_carried(const char *method,
                               size_t method_len,
                               char *out,
                               size_t cap,
                               size_t *len,
                               struct sealwax_error *error);

// Gives the principal of a verified JWT, or of what introspection tells, as JSON:
// `{"issuer": ..., "client": ..., "subject": ...}`, the client `null` if there is none.
//
// `claims` is the JSON of the claims: `iss` and `sub`, which must be there, and `client_id`, or
// else `azp`, if it is. One rule, for the same user must be the same at every replica.
//
// Fails with SEALWAX_INVALID_ARGUMENT where `iss` or `sub` is missing, for a part that is no
// text, empty or over 1,024 bytes, and for what is no JSON object or has a key twice.
sealwax_status sealwax_principal_from_claims(const char *claims,
                                             size_t claims_len,
                                             char *out,
                                             size_t cap,
                                             size_t *len,
                                             struct sealwax_error *error);

// Gives what to send to the client, as JSON: `{"error": ...}` with a JSON-RPC error object,
// `{"httpStatus": ...}`, or `{"toolResult": ...}`.
//
// `profile` is the part of the protocol: sep-1359, data-layer, data-layer-required,
// request-state, cursor, mcp-session-id or handle. `status` is why a call failed. Every refusal
// has the profile's one answer, so that nobody can use the server to learn which check failed,
// and so has SEALWAX_OK, for what the server itself refuses; any other status is an internal
// error. `session_id` is what the client sent, or NULL: it is echoed only where the profile does
// so, and only if it is well formed.
//
// Fails with SEALWAX_INVALID_ARGUMENT for another profile.
sealwax_status sealwax_answer(const char *profile,
                              size_t profile_len,
                              sealwax_status status,
                              const char *session_id,
                              size_t session_id_len,
                              char *out,
                              size_t cap,
                              size_t *len,
                              struct sealwax_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALWAX_H */
