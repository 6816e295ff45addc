/* One successful call of each function of the ABI that can fail or takes objects, for tests that
   hurt the machine below them. */
#ifndef CALLS_H
#define CALLS_H

#include "check.h"

#define KEY_TEXT "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
#define ALICE "\"principal\":{\"subject\":\"alice\"}"
#define TOOL "{\"method\":\"tools/call\",\"target\":\"t\",\"modern\":true," ALICE "}"
#define OPEN "{\"script\":\"open\",\"keys\":[\"swl1:{a}:began\",\"swl1:{a}:fence\"],\"args\":[]}"
#define REVOKE \
  "{\"script\":\"revoke\",\"keys\":[\"swl1:{a}:p:b\"],\"args\":[\"0\"],\"withinMs\":300}"
#define INSPECT "{\"program\":\"p\",\"command\":\"inspect\",\"now\":0}"
#define NOW 1800000000

/* What threads may share. */
typedef struct shared {
  sealwax_key *key;
  sealwax_ring *ring;
  sealwax_test_clock *clock;
  sealwax_codec *codec;
  sealwax_view *view;
  sealwax_guard *guard, *guarded;
  sealwax_redis *redis;
  sealwax_session *session;
  sealwax_opened opened;
  char token[256], metadata[1024], id[64], handle[64], file[64];
  size_t token_len, metadata_len, handle_len;
} shared;

/* What belongs to one thread. */
typedef struct own {
  sealwax_exchange *begun, *delivered, *in_session, *requested;
  sealwax_memory *memory;
  sealwax_dialogue *dialogue;
  sealwax_command *command;
} own;

/* What a call writes. */
typedef struct outputs {
  union {
    sealwax_key *key;
    sealwax_ring *ring;
    sealwax_test_clock *clock;
    sealwax_codec *codec;
    sealwax_view *view;
    sealwax_guard *guard;
    sealwax_redis *redis;
    sealwax_session *session;
    sealwax_exchange *exchange;
    sealwax_memory *memory;
    sealwax_dialogue *dialogue;
    sealwax_command *command;
  } made;
  const char *text;
  size_t text_len, len;
  char out[SEALWAX_PRINCIPAL_MAX];
  uint8_t bytes[4096];
  uint8_t id[4], context[32];
  sealwax_opened opened;
  sealwax_sealed sealed;
  sealwax_identifier identifier;
  sealwax_inspection inspection;
  int32_t next;
  bool changed;
  sealwax_error error;
} outputs;

static shared all;

static const uint8_t SECRET[32] = {1, 2, 3, 200};
static const char *const NAMES[] = {"id"};
static const sealwax_purpose CURSOR = {SEALWAX_KIND_CURSOR, TEXT("tools/list"), NULL, 0, NULL, 0};
static const sealwax_caller CALLER = {NULL, 0, NULL, 0, TEXT("alice"), false};

#define NONE NULL, 0
#define OUT to->out, sizeof to->out, &to->len
#define BYTES to->bytes, sizeof to->bytes, &to->len
#define TEXT_OUT &to->text, &to->text_len
#define ERROR &to->error
#define PAGE SECRET, sizeof SECRET
#define SENT all.metadata, all.metadata_len
#define ID all.id, sizeof all.id
#define HANDLE all.handle, all.handle_len

/* CALL(name, what it makes or `nothing`, arguments): every function of sealwax.h that returns a
 * status. */
#define CALLS(CALL)                                                                                \
  CALL(key_generate, key, &to->made.key, ERROR)                                                    \
  CALL(key_from_secret, key, PAGE, &to->made.key, ERROR)                                           \
  CALL(key_parse, key, TEXT(KEY_TEXT), &to->made.key, ERROR)                                       \
  CALL(key_id, nothing, all.key, &to->id, ERROR)                                                   \
  CALL(key_to_text, nothing, all.key, OUT, ERROR)                                                  \
  CALL(ring_parse, ring, TEXT(KEY_TEXT), &to->made.ring, ERROR)                                    \
  CALL(ring_read, ring, all.file, strlen(all.file), &to->made.ring, ERROR)                         \
  CALL(ring_from_env, ring, &to->made.ring, ERROR)                                                 \
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
  CALL(guard_new, guard, all.codec, TEXT("{\"sessions\":{\"ttl\":60}}"), &to->made.guard, ERROR)   \
  CALL(guard_message, exchange, all.guard, TEXT(TOOL), TEXT("{}"), &to->made.exchange, TEXT_OUT,   \
       ERROR)                                                                                      \
  CALL(guard_transport, exchange, all.guard, TEXT("{}"), NONE, &to->made.exchange, TEXT_OUT,       \
       ERROR)                                                                                      \
  CALL(guard_report, nothing, all.guard,                                                           \
       TEXT("{\"code\":\"internal_error\",\"kind\":\"cursor\",\"message\":\"m\"}"), OUT, ERROR)    \
  CALL(guard_revoke, exchange, all.guarded, TEXT("{\"subject\":\"bob\"}"), 0, &to->made.exchange,  \
       TEXT_OUT, ERROR)                                                                            \
  CALL(guard_request, exchange, all.guard, TEXT("tools/call"), TEXT("t"), TEXT("{}"), NONE,        \
       &CALLER, NULL, SEALWAX_MODERN, &to->made.exchange, &to->next, TEXT_OUT, ERROR)              \
  CALL(exchange_on, nothing, mine->begun, TEXT("{" ALICE "}"), NONE, TEXT_OUT, ERROR)              \
  CALL(exchange_handle, exchange, mine->delivered, TEXT("{\"op\":\"seal\",\"type\":\"order\"}"),   \
       TEXT("[7]"), &to->made.exchange, TEXT_OUT, ERROR)                                           \
  CALL(exchange_seal_state, nothing, mine->delivered, TEXT("{\"page\":2}"), TEXT_OUT, ERROR)       \
  CALL(exchange_write, nothing, mine->in_session, TEXT("2"), ERROR)                                \
  CALL(exchange_update, nothing, mine->in_session, TEXT("3"), ERROR)                               \
  CALL(exchange_fork, nothing, mine->in_session, TEXT_OUT, ERROR)                                  \
  CALL(exchange_events, nothing, mine->delivered, TEXT_OUT, ERROR)                                 \
  CALL(exchange_result, nothing, mine->requested, TEXT("input_required"), NONE, TEXT("7"), false,  \
       &to->next, TEXT_OUT, ERROR)                                                                 \
  CALL(ledger_text, nothing, TEXT("admit"), TEXT_OUT, ERROR)                                       \
  CALL(ledger_judge, nothing, TEXT(OPEN), NOW, TEXT("[null,null]"), OUT, ERROR)                    \
  CALL(memory_new, memory, 1 << 20, NOW, &to->made.memory, ERROR)                                  \
  CALL(memory_run, nothing, mine->memory, TEXT(REVOKE), NOW, TEXT_OUT, ERROR)                      \
  CALL(redis_new, redis, true, &to->made.redis, ERROR)                                             \
  CALL(redis_begin, dialogue, all.redis, TEXT(REVOKE), &to->made.dialogue, TEXT_OUT, ERROR)        \
  CALL(dialogue_on, nothing, mine->dialogue, TEXT("{\"text\":\"role:slave\"}"), TEXT_OUT, ERROR)   \
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
  CALL(command_begin, command, TEXT(INSPECT), &to->made.command, TEXT_OUT, ERROR)                  \
  CALL(command_on, nothing, mine->command, TEXT("{\"bytes\":\"\"}"), TEXT_OUT, ERROR)              \
  CALL(test_clock_new, clock, 1000, &to->made.clock, ERROR)                                        \
  CALL(test_clock_set, nothing, all.clock, NOW, ERROR)                                             \
  CALL(test_codec_new, codec, all.ring, TEXT("a"), NULL, all.clock, &to->made.codec, ERROR)

typedef struct call {
  const char *name;
  sealwax_status (*make)(own *mine, outputs *to);
  void (*free)(outputs *made);
} call;

/* What is made is freed by the function of its name. */
#define free_key sealwax_key_free(to->made.key)
#define free_ring sealwax_ring_free(to->made.ring)
#define free_clock sealwax_test_clock_free(to->made.clock)
#define free_codec sealwax_codec_free(to->made.codec)
#define free_view sealwax_view_free(to->made.view)
#define free_guard sealwax_guard_free(to->made.guard)
#define free_redis sealwax_redis_free(to->made.redis)
#define free_session sealwax_session_free(to->made.session)
#define free_exchange sealwax_exchange_free(to->made.exchange)
#define free_memory sealwax_memory_free(to->made.memory)
#define free_dialogue sealwax_dialogue_free(to->made.dialogue)
#define free_command sealwax_command_free(to->made.command)
#define free_nothing (void)to

#define FUNCTIONS(name, kind, ...)                            \
  static sealwax_status make_##name(own *mine, outputs *to) { \
    (void)mine;                                               \
    return sealwax_##name(__VA_ARGS__);                       \
  }                                                           \
  static void free_of_##name(outputs *to) { free_##kind; }
CALLS(FUNCTIONS)

#define ENTRY(name, kind, ...) {#name, make_##name, free_of_##name},
static const call calls[] = {CALLS(ENTRY)};
enum { COUNT = sizeof calls / sizeof *calls };

#define MADE(call) CHECK((call) == SEALWAX_OK)

static void make_own(own *mine) {
  const char *text;
  size_t len;
  int32_t next;
  char message[2048];
  /* The metadata is an object without escapes: its members go into the message as they are. */
  const char *state = strstr(all.metadata, "\"state\":");
  const char *id = strstr(all.metadata, "\"sessionId\":");
  CHECK(state != NULL && id != NULL);
  const int written = snprintf(
      message, sizeof message,
      "{\"method\":\"tools/call\",\"target\":\"t\",\"session\":{\"id\":%.*s,\"state\":%.*s}," ALICE
      "}",
      (int)(strchr(id + 13, '"') + 1 - (id + 12)), id + 12,
      (int)(strchr(state + 9, '"') + 1 - (state + 8)), state + 8);
  CHECK(written > 0 && (size_t)written < sizeof message);
  MADE(sealwax_guard_message(all.guard,
                             TEXT("{\"method\":\"tools/call\",\"target\":\"t\",\"modern\":true}"),
                             NONE, &mine->begun, &text, &len, NULL));
  MADE(sealwax_guard_message(all.guard, TEXT(TOOL), NONE, &mine->delivered, &text, &len, NULL));
  MADE(sealwax_guard_message(all.guard, message, (size_t)written, NONE, &mine->in_session, &text,
                             &len, NULL));
  MADE(sealwax_guard_request(all.guard, TEXT("tools/call"), TEXT("t"), NONE, NONE, &CALLER, NULL,
                             SEALWAX_MODERN, &mine->requested, &next, &text, &len, NULL));
  MADE(sealwax_memory_new(1 << 20, NOW, &mine->memory, NULL));
  MADE(sealwax_redis_begin(all.redis, TEXT(REVOKE), &mine->dialogue, &text, &len, NULL));
  MADE(sealwax_command_begin(TEXT(INSPECT), &mine->command, &text, &len, NULL));
}

static void free_own(own *mine) {
  sealwax_exchange_free(mine->begun);
  sealwax_exchange_free(mine->delivered);
  sealwax_exchange_free(mine->in_session);
  sealwax_exchange_free(mine->requested);
  sealwax_memory_free(mine->memory);
  sealwax_dialogue_free(mine->dialogue);
  sealwax_command_free(mine->command);
}

/* The other key of a ring that is rotated. */
#define RINGS \
  KEY_TEXT    \
  ","         \
  "swk1_9XNkH4m6VF07gXeugCtljf-jlUeikK0w0Lc-4D7yIAU3IBDp"

static void make_all(void) {
  uint8_t payload[256];
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
  MADE(sealwax_guard_new(all.codec, TEXT("{\"sessions\":{\"ttl\":60}}"), &all.guard, NULL));
  MADE(sealwax_guard_new(all.codec, TEXT("{\"ledger\":{\"local\":true}}"), &all.guarded, NULL));
  MADE(sealwax_redis_new(true, &all.redis, NULL));
}

static void free_all(void) {
  sealwax_redis_free(all.redis);
  sealwax_guard_free(all.guarded);
  sealwax_guard_free(all.guard);
  sealwax_session_free(all.session);
  sealwax_view_free(all.view);
  sealwax_codec_free(all.codec);
  sealwax_test_clock_free(all.clock);
  sealwax_ring_free(all.ring);
  sealwax_key_free(all.key);
  CHECK(unlink(all.file) == 0);
}

#endif
