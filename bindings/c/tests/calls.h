/* One successful call of each function of the ABI that can fail or takes objects, with a frame of
   each kind, for tests that hurt the machine below them. */
#ifndef CALLS_H
#define CALLS_H

#include <stdarg.h>

#include "check.h"

/* As texts of a frame: one that is absent, and the end of all. */
#define ABSENT (const char *)NULL, (size_t)0
#define FRAME_END (const char *)NULL, (size_t)2

typedef struct frame {
  size_t len;
  uint8_t bytes[16384];
} frame;

/* FRAME(to, kind, flags, texts): writes a frame. */
#define FRAME(to, ...) write_frame(to, __VA_ARGS__, FRAME_END)

/* Numbers are as this machine has them: all that the tests run on are little-endian. */
static void write_frame(frame *to, int kind, int flags, ...) {
  slice text;
  int32_t lens[11];
  uint8_t count = 0, texts[sizeof to->bytes];
  size_t size = 0;
  va_list rest;
  va_start(rest, flags);
  for (;; count++) {
    text.data = va_arg(rest, char *);
    text.len = va_arg(rest, size_t);
    if (text.data == NULL && text.len == 2) break;
    CHECK(count < 11 && text.len <= sizeof texts - 48 - size);
    lens[count] = text.data == NULL ? -1 - (int32_t)text.len : (int32_t)text.len;
    if (text.data == NULL) continue;
    memcpy(texts + size, text.data, text.len);
    size += text.len;
  }
  va_end(rest);
  const uint8_t head[] = {(uint8_t)kind, count, (uint8_t)flags, (uint8_t)(flags >> 8)};
  memcpy(to->bytes, head, 4);
  memcpy(to->bytes + 4, lens, 4 * (size_t)count);
  memcpy(to->bytes + 4 + 4 * count, texts, size);
  to->len = 4 + 4 * (size_t)count + size;
}

/* The member of a document that is a text without escapes, by its name in quotes; or absent. */
static slice member(const char *document, size_t len, const char *name) {
  slice found = {NULL, 0};
  const size_t name_len = strlen(name);
  for (size_t at = 0; at + name_len + 2 < len && found.data == NULL; at++)
    if (memcmp(document + at, name, name_len) == 0 && document[at + name_len] == ':')
      found.data = (char *)document + at + name_len + 2;
  while (found.data != NULL && found.data[found.len] != '"') found.len++;
  return found;
}

#define KEY_TEXT "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
#define OPEN "{\"script\":\"open\",\"keys\":[\"swl1:{a}:began\",\"swl1:{a}:fence\"],\"args\":[]}"
#define REVOKE \
  "{\"script\":\"revoke\",\"keys\":[\"swl1:{a}:p:b\"],\"args\":[\"0\",\"0\"],\"withinMs\":300}"
#define INSPECT "{\"program\":\"p\",\"command\":\"inspect\",\"now\":0}"
#define NOW 1800000000

/* What threads may share. */
typedef struct shared {
  sealwax_key *key;
  sealwax_ring *ring;
  sealwax_test_clock *clock;
  sealwax_codec *codec;
  sealwax_view *view;
  sealwax_machine *guard, *guarded, *redis;
  sealwax_session *session;
  sealwax_opened opened;
  char token[256], metadata[1024], id[64], handle[64], file[64];
  size_t token_len, metadata_len, handle_len;
} shared;

/* What belongs to one thread. */
typedef struct own {
  sealwax_machine *begun, *delivered, *in_session, *requested, *memory, *machine, *command;
} own;

/* What a call writes. */
typedef struct outputs {
  union {
    sealwax_key *key;
    sealwax_ring *ring;
    sealwax_test_clock *clock;
    sealwax_codec *codec;
    sealwax_view *view;
    sealwax_session *session;
    sealwax_machine *machine;
  } made;
  const char *text;
  const uint8_t *answer;
  size_t text_len, answer_len, len;
  char out[SEALWAX_PRINCIPAL_MAX];
  uint8_t bytes[4096];
  uint8_t id[4], context[32];
  sealwax_opened opened;
  sealwax_sealed sealed;
  sealwax_identifier identifier;
  sealwax_inspection inspection;
  bool changed;
  sealwax_error error;
} outputs;

static shared all;

#define SECRET_TEXT "c2VjcmV0IHRleHQgdGhhdCBpcyBnZW5lcmF0ZWQ"
static const char VARIABLES[] = "SEALWAX_KEYS=" KEY_TEXT;
static const uint8_t SECRET[32] = {1, 2, 3, 200};
static const char *const NAMES[] = {"id"};
static const sealwax_purpose CURSOR = {SEALWAX_KIND_CURSOR, TEXT("tools/list"), NULL, 0, NULL, 0};

#define NONE NULL, 0
#define OUT to->out, sizeof to->out, &to->len
#define BYTES to->bytes, sizeof to->bytes, &to->len
#define TEXT_OUT &to->text, &to->text_len
#define ERROR &to->error
#define ANSWER &to->answer, &to->answer_len, ERROR
#define PAGE SECRET, sizeof SECRET
#define SENT all.metadata, all.metadata_len
#define ID all.id, sizeof all.id
#define HANDLE all.handle, all.handle_len

/* CALL(name, what it makes or `nothing`, arguments): every function of sealwax.h that returns a
 * status, but for those of machines. */
#define CALLS(CALL)                                                                                \
  CALL(key_generate, key, &to->made.key, ERROR)                                                    \
  CALL(key_derive, key, TEXT(SECRET_TEXT), &to->made.key, ERROR)                                   \
  CALL(key_from_secret, key, PAGE, &to->made.key, ERROR)                                           \
  CALL(key_parse, key, TEXT(KEY_TEXT), &to->made.key, ERROR)                                       \
  CALL(key_id, nothing, all.key, &to->id, ERROR)                                                   \
  CALL(key_to_text, nothing, all.key, OUT, ERROR)                                                  \
  CALL(ring_parse, ring, TEXT(KEY_TEXT), &to->made.ring, ERROR)                                    \
  CALL(ring_read, ring, all.file, strlen(all.file), &to->made.ring, ERROR)                         \
  CALL(ring_of_file, ring, TEXT("/keys"), (const uint8_t *)KEY_TEXT, sizeof KEY_TEXT - 1, NULL, 0, \
       &to->made.ring, ERROR)                                                                      \
  CALL(ring_from_env, ring, &to->made.ring, ERROR)                                                 \
  CALL(ring_from_variables, ring, VARIABLES, sizeof VARIABLES, &to->made.ring, ERROR)              \
  CALL(ring_join, ring, (const sealwax_ring *const *)&all.ring, 1, &to->made.ring, ERROR)          \
  CALL(ring_new, ring, (const sealwax_key *const *)&all.key, 1, &to->made.ring, ERROR)             \
  CALL(ring_ids, nothing, all.ring, BYTES, ERROR)                                                  \
  CALL(codec_new, codec, all.ring, TEXT("a"), NULL, &to->made.codec, ERROR)                        \
  CALL(codec_set_keys, nothing, all.codec, all.ring, &to->changed, ERROR)                          \
  CALL(view_new, view, all.codec, NONE, NONE, TEXT("bob"), &to->made.view, ERROR)                  \
  CALL(view_new_anonymous, view, all.codec, &to->made.view, ERROR)                                 \
  CALL(check_ttl, nothing, 60, ERROR)                                                              \
  CALL(seal, nothing, all.view, &CURSOR, NULL, PAGE, OUT, ERROR)                                   \
  CALL(renew, nothing, all.view, &CURSOR, NULL, &all.opened, PAGE, OUT, ERROR)                     \
  CALL(seal_token, nothing, all.view, &CURSOR, NULL, NULL, PAGE, OUT, &to->sealed, ERROR)          \
  CALL(open, nothing, all.view, &CURSOR, NULL, all.token, all.token_len, BYTES, &to->opened,       \
       ERROR)                                                                                      \
  CALL(mint_session_id, nothing, all.view, OUT, &to->identifier, ERROR)                            \
  CALL(verify_session_id, nothing, all.view, ID, NULL, &to->identifier, ERROR)                     \
  CALL(mint_handle, nothing, all.view, TEXT("row"), OUT, &to->identifier, ERROR)                   \
  CALL(new_handle, nothing, all.view, TEXT("row"), NULL, OUT, &to->identifier, ERROR)              \
  CALL(check_handle_type, nothing, TEXT("row"), ERROR)                                             \
  CALL(verify_handle, nothing, all.view, TEXT("row"), HANDLE, NULL, &to->identifier, ERROR)        \
  CALL(session_create, nothing, all.view, NULL, PAGE, OUT, ERROR)                                  \
  CALL(session_mint, nothing, all.view, OUT, ERROR)                                                \
  CALL(session_open, session, all.view, SENT, &to->made.session, ERROR)                            \
  CALL(session_payload, nothing, all.session, BYTES, &to->opened, ERROR)                           \
  CALL(session_id, nothing, all.session, OUT, &to->identifier, ERROR)                              \
  CALL(session_renew, nothing, all.view, NULL, all.session, PAGE, OUT, ERROR)                      \
  CALL(session_fork, nothing, all.view, NULL, all.session, OUT, ERROR)                             \
  CALL(session_verify, nothing, all.view, ID, &to->identifier, ERROR)                              \
  CALL(ledger_evaluate, nothing, TEXT(OPEN), NOW, TEXT("[null,null]"), OUT, ERROR)                 \
  CALL(inspect, nothing, ID, &to->inspection, ERROR)                                               \
  CALL(report_words, nothing, ID, all.ring, NOW, OUT, ERROR)                                       \
  CALL(report_json, nothing, ID, all.ring, OUT, ERROR)                                             \
  CALL(request_context, nothing, TEXT("tools/call"), TEXT("t"), TEXT("{\"id\":7,\"a\":[1]}"),      \
       &to->context, ERROR)                                                                        \
  CALL(request_context_only, nothing, TEXT("tools/call"), TEXT("t"), TEXT("{\"id\":7}"), NAMES, 1, \
       &to->context, ERROR)                                                                        \
  CALL(token_fields, nothing, TEXT("tools/list"), OUT, ERROR)                                      \
  CALL(principal_from_claims, nothing, TEXT("{\"iss\":\"i\",\"sub\":\"s\"}"), OUT, ERROR)          \
  CALL(answer, nothing, TEXT("sep-1359"), SEALWAX_EXPIRED, ID, OUT, ERROR)                         \
  CALL(test_clock_new, clock, 1000, &to->made.clock, ERROR)                                        \
  CALL(test_clock_set, nothing, all.clock, NOW, ERROR)                                             \
  CALL(test_codec_new, codec, all.ring, TEXT("a"), NULL, all.clock, &to->made.codec, ERROR)

#define BY_ALICE SEALWAX_FLAG_MODERN | SEALWAX_FLAG_CALLER
#define MESSAGE(flags, ...)                                                                  \
  SEALWAX_MESSAGE, flags, TEXT("tools/call"), TEXT("t"), TEXT("{}"), ABSENT, ABSENT, ABSENT, \
      TEXT("alice"), ABSENT, __VA_ARGS__
#define IN_SESSION                                                               \
  MESSAGE(BY_ALICE | SEALWAX_FLAG_SESSION, SLICE(member(SENT, "\"sessionId\"")), \
          SLICE(member(SENT, "\"state\"")))
#define FAULT "{\"code\":\"internal_error\",\"kind\":\"cursor\",\"message\":\"m\"}"
#define TIME TEXT("1800000000")

/* NEW(name, parent, frame), ON(name, machine, frame): those, with a frame of each kind. */
#define MACHINES(NEW, ON)                                                                       \
  NEW(guard, NULL, SEALWAX_GUARD, 0, TEXT("{\"sessions\":{\"ttl\":60}}"))                       \
  NEW(message, all.guard, MESSAGE(BY_ALICE, ABSENT, ABSENT))                                    \
  NEW(session, all.guard, IN_SESSION)                                                           \
  NEW(invalid, all.guard, SEALWAX_INVALID, 0)                                                   \
  NEW(http, all.guard, SEALWAX_HTTP, 0, TEXT("GET"))                                            \
  NEW(connection, all.guard, SEALWAX_CONNECTION, 0)                                             \
  NEW(report, all.guard, SEALWAX_REPORT, 0, TEXT(FAULT))                                        \
  NEW(revocation, all.guarded, SEALWAX_REVOCATION, 0, TEXT("{\"subject\":\"bob\"}"))            \
  NEW(handle, mine->delivered, SEALWAX_HANDLE, 0, TEXT("{\"op\":\"seal\",\"type\":\"order\"}"), \
      TEXT("[7]"))                                                                              \
  NEW(store, NULL, SEALWAX_STORE, SEALWAX_FLAG_WAITS)                                           \
  NEW(machine, all.redis, SEALWAX_STORE_MACHINE, 0, TEXT(REVOKE))                               \
  NEW(memory, NULL, SEALWAX_MEMORY, 0, TEXT("1048576"), TIME)                                   \
  NEW(command, NULL, SEALWAX_COMMAND, 0, TEXT(INSPECT))                                         \
  ON(principal, mine->begun, SEALWAX_PRINCIPAL, 0, ABSENT, ABSENT, TEXT("alice"))               \
  ON(event, mine->requested, SEALWAX_EVENT, 0, TEXT("{\"result\":{\"members\":{}}}"))           \
  ON(seal_state, mine->delivered, SEALWAX_SEAL_STATE, 0, TEXT("{\"page\":2}"))                  \
  ON(write, mine->in_session, SEALWAX_WRITE, 0, TEXT("2"))                                      \
  ON(fork, mine->in_session, SEALWAX_FORK, 0)                                                   \
  ON(result, mine->delivered, SEALWAX_RESULT, 0, TEXT("input_required"), ABSENT, TEXT("7"))     \
  ON(run, mine->memory, SEALWAX_RUN, 0, TEXT(REVOKE), TIME)                                     \
  ON(answer, mine->machine, SEALWAX_EVENT, 0, TEXT("{\"text\":\"role:slave\"}"))                \
  ON(stdin, mine->command, SEALWAX_EVENT, 0, TEXT("{\"bytes\":\"\"}"))

typedef struct call {
  const char *name;
  sealwax_status (*make)(own *mine, outputs *to);
  void (*free)(outputs *made);
} call;

/* What is made is freed by the function of its name. */
#define FREE(kind, of) \
  static void free_##kind(outputs *to) { sealwax_##of##_free(to->made.kind); }
FREE(key, key)
FREE(ring, ring)
FREE(clock, test_clock)
FREE(codec, codec)
FREE(view, view)
FREE(session, session)
FREE(machine, machine)
static void free_nothing(outputs *to) { (void)to; }

#define FUNCTION(name, kind, ...)                             \
  static sealwax_status make_##name(own *mine, outputs *to) { \
    (void)mine;                                               \
    return sealwax_##name(__VA_ARGS__);                       \
  }
#define BEGIN(name, parent, ...)                                                             \
  static sealwax_status begin_##name(own *mine, outputs *to) {                               \
    frame given;                                                                             \
    (void)mine;                                                                              \
    FRAME(&given, __VA_ARGS__);                                                              \
    return sealwax_machine_new(all.codec, parent, given.bytes, given.len, &to->made.machine, \
                               ANSWER);                                                      \
  }
#define TELL(name, machine, ...)                                        \
  static sealwax_status tell_##name(own *mine, outputs *to) {           \
    frame given;                                                        \
    FRAME(&given, __VA_ARGS__);                                         \
    return sealwax_machine_on(machine, given.bytes, given.len, ANSWER); \
  }
CALLS(FUNCTION)
MACHINES(BEGIN, TELL)

#define ENTRY(name, kind, ...) {#name, make_##name, free_##kind},
#define BEGUN(name, ...) {"begin " #name, begin_##name, free_machine},
#define TOLD(name, ...) {"tell " #name, tell_##name, free_nothing},
static const call calls[] = {CALLS(ENTRY) MACHINES(BEGUN, TOLD)};
enum { COUNT = sizeof calls / sizeof *calls };

#define MADE(call) CHECK((call) == SEALWAX_OK)

#define START(parent, machine, ...)                                                                \
  MADE((FRAME(&given, __VA_ARGS__), sealwax_machine_new(all.codec, parent, given.bytes, given.len, \
                                                        machine, &answer, &len, NULL)))

static void make_own(own *mine) {
  frame given;
  const uint8_t *answer;
  size_t len;
  START(all.guard, &mine->begun, MESSAGE(SEALWAX_FLAG_MODERN, ABSENT, ABSENT));
  START(all.guard, &mine->delivered, MESSAGE(BY_ALICE, ABSENT, ABSENT));
  START(all.guard, &mine->in_session, IN_SESSION);
  START(all.guard, &mine->requested, MESSAGE(BY_ALICE, ABSENT, ABSENT));
  START(NULL, &mine->memory, SEALWAX_MEMORY, 0, TEXT("1048576"), TIME);
  START(all.redis, &mine->machine, SEALWAX_STORE_MACHINE, 0, TEXT(REVOKE));
  START(NULL, &mine->command, SEALWAX_COMMAND, 0, TEXT(INSPECT));
}

static void free_own(own *mine) {
  sealwax_machine_free(mine->begun);
  sealwax_machine_free(mine->delivered);
  sealwax_machine_free(mine->in_session);
  sealwax_machine_free(mine->requested);
  sealwax_machine_free(mine->memory);
  sealwax_machine_free(mine->machine);
  sealwax_machine_free(mine->command);
}

/* The other key of a ring that is rotated. */
#define RINGS \
  KEY_TEXT    \
  ","         \
  "swk1_9XNkH4m6VF07gXeugCtljf-jlUeikK0w0Lc-4D7yIAU3IBDp"

static void make_all(void) {
  uint8_t payload[256];
  frame given;
  const uint8_t *answer;
  size_t len;
  strcpy(all.file, "/tmp/sealwax-keys-XXXXXX");
  const int file = mkstemp(all.file);
  CHECK(file >= 0 && write(file, TEXT(KEY_TEXT)) == sizeof KEY_TEXT - 1 && close(file) == 0);
  CHECK(setenv("SEALWAX_KEYS", KEY_TEXT, 1) == 0 && unsetenv("SEALWAX_KEYS_FILE") == 0);
  MADE(sealwax_key_parse(TEXT(KEY_TEXT), &all.key, NULL));
  MADE(sealwax_ring_parse(TEXT(RINGS), &all.ring, NULL));
  MADE(sealwax_test_clock_new((uint64_t)NOW * 1000, &all.clock, NULL));
  MADE(sealwax_codec_new(all.ring, TEXT("a"), NULL, &all.codec, NULL));
  MADE(sealwax_view_new(all.codec, NONE, NONE, TEXT("alice"), &all.view, NULL));
  MADE(sealwax_seal(all.view, &CURSOR, NULL, PAGE, all.token, sizeof all.token, &all.token_len,
                    NULL));
  MADE(sealwax_open(all.view, &CURSOR, NULL, all.token, all.token_len, payload, sizeof payload,
                    &len, &all.opened, NULL));
  MADE(sealwax_session_create(all.view, NULL, (const uint8_t *)"1", 1, all.metadata,
                              sizeof all.metadata, &all.metadata_len, NULL));
  MADE(sealwax_session_open(all.view, SENT, &all.session, NULL));
  MADE(sealwax_session_id(all.session, all.id, sizeof all.id, &len, NULL, NULL));
  MADE(sealwax_mint_handle(all.view, TEXT("row"), all.handle, sizeof all.handle, &all.handle_len,
                           NULL, NULL));
  START(NULL, &all.guard, SEALWAX_GUARD, 0, TEXT("{\"sessions\":{\"ttl\":60}}"));
  START(NULL, &all.guarded, SEALWAX_GUARD, 0, TEXT("{\"ledger\":{\"local\":true}}"));
  START(NULL, &all.redis, SEALWAX_STORE, SEALWAX_FLAG_WAITS);
}

static void free_all(void) {
  sealwax_machine_free(all.redis);
  sealwax_machine_free(all.guarded);
  sealwax_machine_free(all.guard);
  sealwax_session_free(all.session);
  sealwax_view_free(all.view);
  sealwax_codec_free(all.codec);
  sealwax_test_clock_free(all.clock);
  sealwax_ring_free(all.ring);
  sealwax_key_free(all.key);
  CHECK(unlink(all.file) == 0);
}

#endif
