/* The ledger over the ABI: whole exchanges with one in memory, and invalid arguments. */
#include "step.h"

#define NOW 1800000000
#define COMPLETE "{\"result\":{\"members\":{\"resultType\":\"complete\"}}}"
#define RUN_OF(command, len) SEALWAX_RUN, 0, command, len, TEXT("1800000000")

static sealwax_machine *memory;

static void make_memory(const char *size) {
  CHECK(NEW(NULL, &memory, SEALWAX_MEMORY, 0, size, strlen(size), TEXT("1800000000")) ==
        SEALWAX_OK);
}

static void begin(void) {
  environment_stop_clock((uint64_t)NOW * 1000);
  make_guard("{\"sessions\":{\"ttl\":60},\"ledger\":{\"local\":true}}");
  make_memory("1048576");
}

static void end(void) {
  sealwax_machine_free(memory);
  sealwax_machine_free(guard);
}

/* Runs the step's command at the ledger; returns its reply. */
static slice done(void) {
  const slice command = text_of(answer, 0);
  CHECK(ON(memory, RUN_OF(command.data, command.len)) == SEALWAX_OK && answer[0] == SEALWAX_TEXT);
  return text_of(answer, 0);
}

/* Runs the step's command at the ledger, and gives the reply to the exchange. */
static void ask(sealwax_machine *of) {
  CHECK(tells("\"name\":\"ledger\""));
  const slice reply = done();
  CHECK(ON(of, SEALWAX_TOLD, 0, SLICE(reply)) == SEALWAX_OK);
}

static void unanswered(sealwax_machine *of) { CHECK(ON(of, SEALWAX_TOLD, 0) == SEALWAX_OK); }

static void on(sealwax_machine *of, const char *event) {
  CHECK(ON(of, SEALWAX_EVENT, 0, event, strlen(event)) == SEALWAX_OK);
}

static sealwax_machine *call_with(slice brought) {
  sealwax_machine *begun;
  CHECK(NEW(guard, &begun, CALL_BY_ALICE(0, SLICE(brought), ABSENT, ABSENT)) == SEALWAX_OK);
  return begun;
}

static sealwax_machine *call(void) {
  const slice nothing = {NULL, 0};
  return call_with(nothing);
}

/* A call in a session, by its metadata. */
static sealwax_machine *call_in(const char *metadata, size_t len) {
  sealwax_machine *begun;
  const slice id = member(metadata, len, "\"sessionId\""),
              state = member(metadata, len, "\"state\"");
  CHECK(NEW(guard, &begun, CALL_BY_ALICE(SEALWAX_FLAG_SESSION, ABSENT, SLICE(id), SLICE(state))) ==
        SEALWAX_OK);
  return begun;
}

static size_t create(char *metadata, size_t cap) {
  size_t len;
  CHECK(sealwax_session_create(alice, NULL, (const uint8_t *)"0", 1, metadata, cap, &len, NULL) ==
        SEALWAX_OK);
  return len;
}

static void open_ledger(void) {
  exchange = call();
  ask(exchange);
  CHECK(answer[0] == SEALWAX_STEP && tells("\"step\":\"deliver\""));
  sealwax_machine_free(exchange);
}

static void a_ledger_is_opened_first(void) {
  exchange = call();
  CHECK(tells("\"script\":\"open\""));
  const slice reply = done();
  /* It begins a second before it is made. */
  CHECK(is(reply, "[\"ok\",\"1799999999\",\"1799999999\",\"1800000000\",\"0\"]"));
  CHECK(ON(exchange, SEALWAX_TOLD, 0, SLICE(reply)) == SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\""));
  sealwax_machine_free(exchange);
}

static void a_state_is_used_once(void) {
  slice sent = {token, 0};
  exchange = call();
  CHECK(has_no_text(SEALWAX_DELIVER));
  CHECK(ON(exchange, SEALWAX_RESULT, 0, TEXT("input_required"), ABSENT, TEXT("mine")) ==
        SEALWAX_OK);
  CHECK(has_token(SEALWAX_RESPOND));
  const slice sealed = text_of(answer, 0);
  sent.len = sealed.len;
  memcpy(sent.data, sealed.data, sealed.len);
  sealwax_machine_free(exchange);
  exchange = call_with(sent);
  CHECK(tells("\"script\":\"admit\""));
  /* Without an answer the same command is sent once more, and is no second use. */
  done();
  unanswered(exchange);
  ask(exchange);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"opened\":\"mine\""));
  sealwax_machine_free(exchange);
  exchange = call_with(sent);
  ask(exchange);
  CHECK(tells("-32602") && tells("\"code\":\"used\""));
  sealwax_machine_free(exchange);
  /* A missing answer never accepts a token. */
  exchange = call_with(sent);
  unanswered(exchange);
  unanswered(exchange);
  CHECK(tells("-32603") && tells("\"code\":\"ledger_unavailable\""));
  sealwax_machine_free(exchange);
  const char *nonsense[] = {
      "[]", "[7]", "7", "null", "{}", "[\"stale\",\"0\"]", "[\"used\",\"9\"]"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
    exchange = call_with(sent);
    CHECK(ON(exchange, SEALWAX_TOLD, 0, nonsense[i], strlen(nonsense[i])) == SEALWAX_OK);
    CHECK(tells("-32603") && tells("\"code\":\"ledger_unavailable\""));
    sealwax_machine_free(exchange);
  }
}

static void of_two_writers_one_is_told_of_the_other(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  sealwax_machine *other = call_in(metadata, len);
  ask(other);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("\"value\":\"0\""));
  CHECK(ON(exchange, SEALWAX_WRITE, 0, TEXT("1")) == SEALWAX_OK);
  on(exchange, COMPLETE);
  CHECK(tells("\"script\":\"commit\""));
  ask(exchange);
  CHECK(tells("\"step\":\"respond\"") && tells("\"state\":\"sw1."));
  sealwax_machine_free(exchange);
  CHECK(ON(other, SEALWAX_WRITE, 0, TEXT("7")) == SEALWAX_OK);
  on(other, COMPLETE);
  ask(other);
  CHECK(tells("\"isError\":true") && tells("\"io.github.sealwax/stale\":{\"ran\":true}"));
  sealwax_machine_free(other);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("\"io.github.sealwax/stale\":{\"ran\":false}"));
  sealwax_machine_free(exchange);
}

static void a_revocation_ends_sessions(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  CHECK(NEW(guard, &exchange, SEALWAX_REVOCATION, 0, TEXT("{\"subject\":\"alice\"}"), TEXT("60")) ==
        SEALWAX_OK);
  CHECK(tells("\"args\":[\"60\",\""));
  ask(exchange);
  CHECK(tells("\"step\":\"done\""));
  sealwax_machine_free(exchange);
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("-32043") && tells("\"code\":\"revoked\""));
  sealwax_machine_free(exchange);
}

static void a_ledger_that_is_full_says_so(void) {
  char metadata[4096];
  const size_t len = create(metadata, sizeof metadata);
  sealwax_machine_free(memory);
  make_memory("0");
  exchange = call_in(metadata, len);
  ask(exchange);
  CHECK(tells("-32603") && tells("no room"));
  sealwax_machine_free(exchange);
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
  char out[4096];
  size_t len;
  answer = NULL;
  for (size_t i = 0; i < sizeof NO_COMMANDS / sizeof *NO_COMMANDS; i++) {
    const char *text = NO_COMMANDS[i];
    CHECK(ON(memory, RUN_OF(text, strlen(text))) == SEALWAX_INVALID_ARGUMENT);
    CHECK(sealwax_ledger_judge(text, strlen(text), NOW, TEXT("[]"), out, sizeof out, &len,
                               &error) == SEALWAX_INVALID_ARGUMENT);
  }
  CHECK(ON(memory, RUN_OF("\xff", 1)) == SEALWAX_INVALID_ARGUMENT);
  CHECK(answer == NULL);
  for (size_t i = 0; i < sizeof BARE / sizeof *BARE; i++) {
    CHECK(ON(memory, RUN_OF(BARE[i], strlen(BARE[i]))) == SEALWAX_OK);
    CHECK(answer[0] == SEALWAX_TEXT && !tells("\"ok\""));
  }
}

static void guards_without_a_ledger_have_no_commands(void) {
  sealwax_machine *const with = guard, *none = NULL;
  make_guard("{}");
  CHECK(NEW(guard, &none, SEALWAX_REVOCATION, 0, TEXT("{\"subject\":\"alice\"}")) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "ledger: expected a guard that has one") == 0);
  sealwax_machine_free(guard);
  CHECK(NEW(NULL, &guard, SEALWAX_GUARD, 0, TEXT("{\"transport\":{\"idle\":60}}")) ==
        SEALWAX_INVALID_ARGUMENT);
  guard = with;
  const char *nobodies[] = {"", "{}", "[]", "null", "{\"subject\":7}", "{\"subject\":\"\"}"};
  for (size_t i = 0; i < sizeof nobodies / sizeof *nobodies; i++)
    CHECK(NEW(guard, &none, SEALWAX_REVOCATION, 0, nobodies[i], strlen(nobodies[i])) ==
          SEALWAX_INVALID_ARGUMENT);
  CHECK(none == NULL);
  CHECK(NEW(guard, &none, SEALWAX_REVOCATION, 0, TEXT("{\"anonymous\":true}")) == SEALWAX_OK);
  /* A revocation that is not certain is not reported as done. */
  unanswered(none);
  unanswered(none);
  CHECK(tells("\"step\":\"reply\"") && tells("ledger_unavailable"));
  sealwax_machine_free(none);
}

#define REVOKE \
  "\"script\":\"revoke\",\"keys\":[\"swl1:{a}:p:b\"],\"args\":[\"0\",\"0\"],\"withinMs\":300"

static void a_redis_is_told_what_to_send(void) {
  sealwax_machine *redis, *dialogue;
  CHECK(NEW(NULL, &redis, SEALWAX_STORE, SEALWAX_FLAG_WAITS) == SEALWAX_OK);
  CHECK(has_no_text(SEALWAX_MADE));
  CHECK(NEW(redis, &dialogue, SEALWAX_DIALOGUE, 0, TEXT("{}")) == SEALWAX_OK);
  CHECK(told(SEALWAX_STEP, "{\"send\":[\"INFO\"]}"));
  on(dialogue, "{\"text\":\"role:slave\"}");
  CHECK(tells("{\"unfit\":"));
  sealwax_machine_free(dialogue);

  CHECK(NEW(redis, &dialogue, SEALWAX_DIALOGUE, 0, TEXT("{" REVOKE "}")) == SEALWAX_OK);
  /* A dialogue outlives the state that it began with. */
  sealwax_machine_free(redis);
  CHECK(tells("\"EVALSHA\"") && tells("\"swl1:{a}:p:b\",\"0\",\"0\"]"));
  on(dialogue, "{\"error\":\"NOSCRIPT No\"}");
  CHECK(tells("\"EVAL\""));
  on(dialogue, "{\"texts\":[\"ok\",\"1\"]}");
  CHECK(told(SEALWAX_STEP, "{\"send\":[\"WAIT\",\"1\",\"150\"],\"own\":true}"));
  on(dialogue, "{\"number\":0}");
  CHECK(told(SEALWAX_STEP, "{\"done\":[\"ok\",\"1\",\"unconfirmed\"]}"));
  CHECK(ON(dialogue, SEALWAX_EVENT, 0, TEXT("{}")) == SEALWAX_INVALID_ARGUMENT);
  sealwax_machine_free(dialogue);
}

static void a_file_of_sqlite_is_told_what_to_run(void) {
  sealwax_machine *dialogue;
  CHECK(NEW(NULL, &dialogue, SEALWAX_SQLITE, 0, TEXT("{\"durable\":false}")) == SEALWAX_OK);
  CHECK(tells("journal_mode = WAL") && tells("synchronous = NORMAL"));
  on(dialogue, "{\"error\":\"database is locked\"}");
  CHECK(tells("{\"wait\":50}"));
  sealwax_machine_free(dialogue);
  CHECK(NEW(NULL, &dialogue, SEALWAX_SQLITE, 0, TEXT("{" REVOKE "}")) == SEALWAX_OK);
  CHECK(tells("BEGIN IMMEDIATE") && tells("\"reads\":true"));
  on(dialogue, "{\"rows\":[\"1800000000\"]}");
  CHECK(tells("\"args\":[\"swl1:{a}:p:b\",\"1800000000\"]"));
  on(dialogue, "{\"rows\":[null]}");
  CHECK(tells("\"COMMIT\""));
  on(dialogue, "{\"rows\":[]}");
  CHECK(tells("{\"done\":[\"ok\",\"0\"]}"));
  CHECK(ON(dialogue, SEALWAX_EVENT, 0, TEXT("{}")) == SEALWAX_INVALID_ARGUMENT);
  sealwax_machine_free(dialogue);
}

int main(void) {
  const test tests[] = {TEST(a_ledger_is_opened_first),
                        TEST(a_state_is_used_once),
                        TEST(of_two_writers_one_is_told_of_the_other),
                        TEST(a_revocation_ends_sessions),
                        TEST(a_ledger_that_is_full_says_so),
                        TEST(stores_with_transactions_are_judged_for),
                        TEST(invalid_commands_are_refused),
                        TEST(guards_without_a_ledger_have_no_commands),
                        TEST(a_redis_is_told_what_to_send),
                        TEST(a_file_of_sqlite_is_told_what_to_run)};
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
