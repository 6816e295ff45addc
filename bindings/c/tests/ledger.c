/* The ledger over the ABI: whole exchanges with one in memory, and invalid arguments. */
#include "step.h"

#define NOW 1800000000
#define ALICE "\"principal\":{\"subject\":\"alice\"}"
#define CALL "{\"method\":\"tools/call\",\"target\":\"t\"," ALICE "}"
#define COMPLETE "{\"result\":{\"members\":{\"resultType\":\"complete\"}}}"

static sealwax_memory *memory;

static void begin(void) {
  environment_stop_clock((uint64_t)NOW * 1000);
  CHECK(sealwax_guard_new(codec, TEXT("{\"sessions\":{\"ttl\":60},\"ledger\":{\"local\":true}}"),
                          &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_memory_new(1 << 20, NOW, &memory, NULL) == SEALWAX_OK);
}

static void end(void) {
  sealwax_memory_free(memory);
  sealwax_guard_free(guard);
}

/* The member of a document that is a text without escapes, in its quotes. */
static slice member(const char *document, size_t len, const char *name) {
  static char texts[2][8192];
  static int next;
  char *text = texts[next++ % 2];
  CHECK(len < sizeof texts[0]);
  memcpy(text, document, len);
  text[len] = 0;
  char *at = strstr(text, name);
  CHECK(at != NULL);
  at += strlen(name);
  slice found = {at, (size_t)(strchr(at + 1, '"') + 1 - at)};
  return found;
}

/* Runs a command at the ledger; returns its reply as an event. */
static slice done(const char *command, size_t len) {
  static char event[8192];
  const char *reply;
  size_t reply_len;
  CHECK(sealwax_memory_run(memory, command, len, NOW, &reply, &reply_len, &error) == SEALWAX_OK);
  int written = snprintf(event, sizeof event, "{\"ledger\":%.*s}", (int)reply_len, reply);
  CHECK(written > 0 && (size_t)written < sizeof event);
  slice told = {event, (size_t)written};
  return told;
}

/* Runs the step's command at the ledger, and gives the reply to the exchange. */
static void ask(sealwax_exchange *of) {
  CHECK(tells("\"step\":\"ledger\""));
  slice event = done(step, step_len);
  CHECK(sealwax_exchange_on(of, event.data, event.len, NULL, 0, STEP) == SEALWAX_OK);
}

static void on(sealwax_exchange *of, const char *event) {
  CHECK(sealwax_exchange_on(of, event, strlen(event), NULL, 0, STEP) == SEALWAX_OK);
}

static sealwax_exchange *message(const char *text) {
  sealwax_exchange *begun;
  CHECK(sealwax_guard_message(guard, text, strlen(text), NULL, 0, &begun, STEP) == SEALWAX_OK);
  return begun;
}

/* A call in a session, by its metadata. */
static sealwax_exchange *call_in(const char *metadata, size_t len) {
  char text[8192];
  slice id = member(metadata, len, "\"sessionId\":"), state = member(metadata, len, "\"state\":");
  int written = snprintf(text, sizeof text,
                         "{\"method\":\"tools/call\",\"target\":\"t\",\"session\":{\"id\":%.*s,"
                         "\"state\":%.*s}," ALICE "}",
                         (int)id.len, id.data, (int)state.len, state.data);
  CHECK(written > 0 && (size_t)written < sizeof text);
  return message(text);
}

static size_t create(char *metadata, size_t cap) {
  size_t len;
  CHECK(sealwax_session_create(alice, NULL, (const uint8_t *)"0", 1, metadata, cap, &len, NULL) ==
        SEALWAX_OK);
  return len;
}

static void open_ledger(void) {
  exchange = message(CALL);
  ask(exchange);
  CHECK(tells("\"step\":\"deliver\""));
  sealwax_exchange_free(exchange);
}

static void a_ledger_is_opened_first(void) {
  exchange = message(CALL);
  CHECK(tells("\"script\":\"open\""));
  slice event = done(step, step_len);
  /* It begins a second before it is made. */
  CHECK(is(event, "{\"ledger\":[\"ok\",\"1799999999\",\"1799999999\",\"1800000000\",\"0\"]}"));
  ask(exchange);
  CHECK(tells("\"step\":\"deliver\""));
  sealwax_exchange_free(exchange);
}

static void a_state_is_used_once(void) {
  char second[8192];
  exchange = message(CALL);
  CHECK(tells("\"step\":\"deliver\""));
  on(exchange,
     "{\"result\":{\"members\":{\"resultType\":\"input_required\",\"requestState\":\"mine\"}}}");
  slice token = member(step, step_len, "\"requestState\":");
  int written = snprintf(second, sizeof second,
                         "{\"method\":\"tools/call\",\"target\":\"t\",\"token\":%.*s," ALICE "}",
                         (int)token.len, token.data);
  CHECK(written > 0 && (size_t)written < sizeof second);
  sealwax_exchange_free(exchange);
  exchange = message(second);
  CHECK(tells("\"script\":\"admit\""));
  /* Without an answer the same command is sent once more, and is no second use. */
  done(step, step_len);
  on(exchange, "{\"ledger\":{\"failed\":\"no answer\"}}");
  ask(exchange);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"opened\":\"mine\""));
  sealwax_exchange_free(exchange);
  exchange = message(second);
  ask(exchange);
  CHECK(tells("-32602") && tells("\"code\":\"used\""));
  sealwax_exchange_free(exchange);
  /* A missing answer never accepts a token. */
  exchange = message(second);
  on(exchange, "{\"ledger\":{\"failed\":\"no answer\"}}");
  on(exchange, "{\"ledger\":{\"failed\":\"no answer\"}}");
  CHECK(tells("-32603") && tells("\"code\":\"ledger_unavailable\""));
  sealwax_exchange_free(exchange);
  const char *nonsense[] = {
      "[]", "[7]", "7", "null", "{}", "[\"stale\",\"0\"]", "[\"used\",\"9\"]"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
    char event[64];
    snprintf(event, sizeof event, "{\"ledger\":%s}", nonsense[i]);
    exchange = message(second);
    on(exchange, event);
    CHECK(tells("-32603") && tells("\"code\":\"ledger_unavailable\""));
    sealwax_exchange_free(exchange);
  }
}

static void of_two_writers_one_is_told_of_the_other(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  sealwax_exchange *other = call_in(metadata, len);
  ask(other);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("\"value\":\"0\""));
  CHECK(sealwax_exchange_write(exchange, TEXT("1"), &error) == SEALWAX_OK);
  on(exchange, COMPLETE);
  CHECK(tells("\"script\":\"commit\""));
  ask(exchange);
  CHECK(tells("\"step\":\"respond\"") && tells("\"state\":\"sw1."));
  sealwax_exchange_free(exchange);
  CHECK(sealwax_exchange_write(other, TEXT("7"), &error) == SEALWAX_OK);
  on(other, COMPLETE);
  ask(other);
  CHECK(tells("\"isError\":true") && tells("\"io.github.sealwax/stale\":{\"ran\":true}"));
  sealwax_exchange_free(other);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("\"io.github.sealwax/stale\":{\"ran\":false}"));
  sealwax_exchange_free(exchange);
}

static void two_updates_both_succeed(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  sealwax_exchange *both[2];
  for (int i = 0; i < 2; i++) {
    both[i] = call_in(metadata, len);
    ask(both[i]);
    CHECK(sealwax_exchange_update(both[i], TEXT("1"), &error) == SEALWAX_OK);
  }
  on(both[0], COMPLETE);
  ask(both[0]);
  CHECK(tells("\"step\":\"respond\""));
  on(both[1], COMPLETE);
  ask(both[1]);
  CHECK(tells("\"step\":\"update\"") && tells("\"value\":\"1\""));
  CHECK(sealwax_exchange_on(both[1], TEXT("{\"updated\":{}}"), TEXT("2"), STEP) == SEALWAX_OK);
  ask(both[1]);
  CHECK(tells("\"step\":\"respond\"") && tells("\"state\":\"sw1."));
  for (int i = 0; i < 2; i++) sealwax_exchange_free(both[i]);
}

static void an_update_is_of_a_session_and_of_json(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  exchange = call_in(metadata, len);
  CHECK(sealwax_exchange_update(exchange, TEXT("1"), &error) == SEALWAX_INVALID_ARGUMENT);
  ask(exchange);
  CHECK(sealwax_exchange_update(NULL, TEXT("1"), &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_update(exchange, NULL, 1, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_update(exchange, TEXT("{"), &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_update(exchange, TEXT("\xff"), &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_exchange_update(exchange, TEXT("2"), NULL) == SEALWAX_OK);
  sealwax_exchange_free(exchange);
  exchange = message(CALL);
  CHECK(sealwax_exchange_update(exchange, TEXT("1"), &error) == SEALWAX_INVALID_ARGUMENT);
  sealwax_exchange_free(exchange);
}

static void a_revocation_ends_sessions(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  CHECK(sealwax_guard_revoke(guard, TEXT("{\"subject\":\"alice\"}"), 60, &exchange, STEP) ==
        SEALWAX_OK);
  ask(exchange);
  CHECK(tells("\"step\":\"done\""));
  sealwax_exchange_free(exchange);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("-32043") && tells("\"code\":\"revoked\""));
  sealwax_exchange_free(exchange);
}

static void a_ledger_that_is_full_says_so(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  sealwax_memory_free(memory);
  CHECK(sealwax_memory_new(0, NOW, &memory, &error) == SEALWAX_OK);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("-32603") && tells("no room"));
  sealwax_exchange_free(exchange);
}

static void stores_with_transactions_are_judged_for(void) {
  static const char command[] = "{\"script\":\"open\",\"keys\":[\"began\",\"fence\"],\"args\":[]}";
  const size_t command_len = sizeof command - 1;
  char out[8192];
  size_t len = 0;
  CHECK(sealwax_ledger_judge(command, command_len, NOW, TEXT("[null,null]"), out, sizeof out, &len,
                             &error) == SEALWAX_OK);
  CHECK(has(out, len, "\"reply\":[\"ok\",\"1800000000\""));
  CHECK(has(out, len, "\"value\":\"1800000000 - 1800000000\""));
  CHECK(sealwax_ledger_judge(command, command_len, NOW, TEXT("[\"x\",\"y\"]"), out, sizeof out,
                             &len, &error) == SEALWAX_OK);
  CHECK(has(out, len, "\"reply\":[\"broken\"") && has(out, len, "\"writes\":[]"));
  const char *values[] = {"", "[]", "[null]", "[null,null,null]", "{}", "x", "null"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    CHECK(sealwax_ledger_judge(command, command_len, NOW, values[i], strlen(values[i]), out,
                               sizeof out, &len, &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_ledger_judge(command, command_len, NOW, TEXT("[null,null]"), out, 7, &len,
                             &error) == SEALWAX_BUFFER_TOO_SMALL);
  CHECK(len > 7);
  CHECK(sealwax_ledger_judge(NULL, 2, NOW, TEXT("[]"), out, sizeof out, &len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_ledger_judge(command, command_len, NOW, NULL, 2, out, sizeof out, &len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_ledger_judge(command, command_len, NOW, TEXT("[]"), NULL, 1, &len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_ledger_judge(command, command_len, NOW, TEXT("[]"), out, sizeof out, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
}

/* Texts that are no command, and commands with too few keys and arguments. */
static const char *const NO_COMMANDS[] = {"",
                                          "{}",
                                          "[]",
                                          "null",
                                          "x",
                                          "{\"script\":\"dance\"}",
                                          "{\"script\":7}",
                                          "{\"script\":\"open\"}",
                                          "{\"script\":\"open\",\"keys\":[]}"};
static const char *const BARE[] = {
    "{\"script\":\"open\",\"keys\":[],\"args\":[]}",
    "{\"script\":\"admit\",\"keys\":[],\"args\":[]}",
    "{\"script\":\"commit\",\"keys\":[],\"args\":[]}",
    "{\"script\":\"revoke\",\"keys\":[],\"args\":[]}",
    "{\"script\":\"admit\",\"keys\":[\"a\",\"b\",\"c\",\"d\"],\"args\":[\"x\",\"y\",\"z\",\"w\"]}",
    "{\"script\":\"commit\",\"keys\":[\"a\",\"b\"],\"args\":[\"-1\",\"1e9\",\"\",\"\",\"\"]}"};

static void invalid_commands_are_refused(void) {
  const char *reply = NULL;
  char out[4096];
  size_t len;
  for (size_t i = 0; i < sizeof NO_COMMANDS / sizeof *NO_COMMANDS; i++) {
    const char *text = NO_COMMANDS[i];
    CHECK(sealwax_memory_run(memory, text, strlen(text), NOW, &reply, &len, &error) ==
          SEALWAX_INVALID_ARGUMENT);
    CHECK(sealwax_ledger_judge(text, strlen(text), NOW, TEXT("[]"), out, sizeof out, &len,
                               &error) == SEALWAX_INVALID_ARGUMENT);
  }
  CHECK(reply == NULL);
  for (size_t i = 0; i < sizeof BARE / sizeof *BARE; i++) {
    CHECK(sealwax_memory_run(memory, BARE[i], strlen(BARE[i]), NOW, &reply, &len, &error) ==
          SEALWAX_OK);
    CHECK(!has(reply, len, "\"ok\""));
  }
  CHECK(sealwax_memory_run(memory, TEXT("\xff"), NOW, &reply, &len, &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_memory_run(NULL, TEXT("{}"), NOW, &reply, &len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_memory_run(memory, NULL, 2, NOW, &reply, &len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_memory_run(memory, TEXT("{}"), NOW, NULL, &len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_memory_run(memory, TEXT("{}"), NOW, &reply, NULL, NULL) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_memory_new(1, NOW, NULL, &error) == SEALWAX_NULL_POINTER);
  sealwax_memory_free(NULL);
}

static void guards_without_a_ledger_have_no_commands(void) {
  sealwax_guard *without = NULL;
  sealwax_exchange *none = NULL;
  CHECK(sealwax_guard_new(codec, TEXT("{}"), &without, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_revoke(without, TEXT("{\"subject\":\"alice\"}"), 0, &none, STEP) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "ledger: expected a guard that has one") == 0);
  sealwax_guard_free(without);
  CHECK(sealwax_guard_new(codec, TEXT("{\"transport\":{\"idle\":60}}"), &without, &error) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_guard_revoke(NULL, TEXT("{}"), 0, &none, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_revoke(guard, NULL, 2, 0, &none, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_revoke(guard, TEXT("{\"anonymous\":true}"), 0, NULL, STEP) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_revoke(guard, TEXT("{\"anonymous\":true}"), 0, &none, NULL, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
  const char *nobodies[] = {"", "{}", "[]", "null", "{\"subject\":7}", "{\"subject\":\"\"}"};
  for (size_t i = 0; i < sizeof nobodies / sizeof *nobodies; i++)
    CHECK(sealwax_guard_revoke(guard, nobodies[i], strlen(nobodies[i]), 0, &none, STEP) ==
          SEALWAX_INVALID_ARGUMENT);
  CHECK(none == NULL);
  CHECK(sealwax_guard_revoke(guard, TEXT("{\"anonymous\":true}"), 0, &none, STEP) == SEALWAX_OK);
  /* A revocation that is not certain is not reported as done. */
  on(none, "{\"ledger\":{\"failed\":\"no answer\"}}");
  on(none, "{\"ledger\":{\"failed\":\"no answer\"}}");
  CHECK(tells("\"step\":\"reply\"") && tells("ledger_unavailable"));
  sealwax_exchange_free(none);
}

static void texts(void) {
  const char *const names[] = {"open",           "admit",         "commit",        "revoke",
                               "sqlite-connect", "sqlite-normal", "sqlite-create", "sqlite-begin",
                               "sqlite-now",     "sqlite-read",   "sqlite-write",  "sqlite-delete",
                               "sqlite-sweep"};
  const char *text = NULL;
  size_t len;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK(sealwax_ledger_text(names[i], strlen(names[i]), &text, &len, &error) == SEALWAX_OK);
    CHECK(len > 10);
    CHECK(has(text, len, i < 4 ? "redis.call" : i < 6 ? "PRAGMA" : i == 7 ? "BEGIN" : " "));
  }
  text = NULL;
  CHECK(sealwax_ledger_text(TEXT("drop"), &text, &len, &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_ledger_text(TEXT("\xff"), &text, &len, &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_ledger_text(NULL, 4, &text, &len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_ledger_text(TEXT("open"), NULL, &len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_ledger_text(TEXT("open"), &text, NULL, NULL) == SEALWAX_NULL_POINTER);
  CHECK(text == NULL);
}

#define REVOKE "\"script\":\"revoke\",\"keys\":[\"swl1:{a}:p:b\"],\"args\":[\"0\"],\"withinMs\":300"

static void a_redis_is_told_what_to_send(void) {
  sealwax_redis *redis;
  sealwax_dialogue *dialogue;
  CHECK(sealwax_redis_new(true, &redis, &error) == SEALWAX_OK);
  CHECK(sealwax_redis_begin(redis, TEXT("{" REVOKE "}"), &dialogue, STEP) == SEALWAX_OK);
  CHECK(tells("{\"send\":[\"INFO\"],\"own\":true}"));
  CHECK(sealwax_dialogue_on(dialogue, TEXT("{\"text\":\"role:slave\"}"), STEP) == SEALWAX_OK);
  CHECK(tells("{\"unfit\":"));
  sealwax_dialogue_free(dialogue);

  CHECK(sealwax_redis_begin(redis, TEXT("{" REVOKE ",\"checked\":true}"), &dialogue, STEP) ==
        SEALWAX_OK);
  /* A dialogue outlives the state that it began with. */
  sealwax_redis_free(redis);
  CHECK(tells("\"EVALSHA\"") && tells("\"swl1:{a}:p:b\",\"0\"]"));
  CHECK(sealwax_dialogue_on(dialogue, TEXT("{\"error\":\"NOSCRIPT No\"}"), STEP) == SEALWAX_OK);
  CHECK(tells("\"EVAL\""));
  CHECK(sealwax_dialogue_on(dialogue, TEXT("{\"texts\":[\"ok\",\"1\"]}"), STEP) == SEALWAX_OK);
  CHECK(tells("{\"send\":[\"WAIT\",\"1\",\"150\"],\"own\":true}"));
  CHECK(sealwax_dialogue_on(dialogue, TEXT("{\"number\":0}"), STEP) == SEALWAX_OK);
  CHECK(tells("{\"done\":[\"ok\",\"1\",\"unconfirmed\"]}"));
  CHECK(sealwax_dialogue_on(dialogue, TEXT("{}"), STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_dialogue_on(NULL, TEXT("{}"), STEP) == SEALWAX_NULL_POINTER);
  sealwax_dialogue_free(dialogue);
  sealwax_dialogue_free(NULL);
  sealwax_redis_free(NULL);
  CHECK(sealwax_redis_new(false, NULL, &error) == SEALWAX_NULL_POINTER);
}

int main(void) {
  const test tests[] = {TEST(a_ledger_is_opened_first),
                        TEST(a_state_is_used_once),
                        TEST(of_two_writers_one_is_told_of_the_other),
                        TEST(two_updates_both_succeed),
                        TEST(an_update_is_of_a_session_and_of_json),
                        TEST(a_revocation_ends_sessions),
                        TEST(a_ledger_that_is_full_says_so),
                        TEST(stores_with_transactions_are_judged_for),
                        TEST(invalid_commands_are_refused),
                        TEST(guards_without_a_ledger_have_no_commands),
                        TEST(texts),
                        TEST(a_redis_is_told_what_to_send)};
  const size_t count = sizeof tests / sizeof *tests;
  for (size_t i = 0; i < count; i++) {
    subject = tests[i].name;
    environment_reset();
    set_up();
    begin();
    /* The first test does so itself. */
    if (i > 0) open_ledger();
    tests[i].run();
    end();
    tear_down();
  }
  printf("%d tests of the ledger\n", (int)count);
  return 0;
}
