/* Guards and their exchanges over the ABI; the command. */
#include "step.h"

#define ALICE SEALWAX_TOLD, 0, TEXT("{\"subject\":\"alice\"}")
#define EVENT(document) SEALWAX_EVENT, 0, TEXT(document)
#define RESULT(type, scope, member, flags) SEALWAX_RESULT, flags, type, scope, member
#define ASKS_BACK RESULT(TEXT("input_required"), ABSENT, TEXT("mine"), 0)
#define NO_TEXT TEXT("\xff")
/* The caller's parts, and what is of a session or a wrapper, are the rest. */
#define MESSAGE(method, token, flags, ...) \
  SEALWAX_MESSAGE, flags, TEXT(method), TEXT("t"), ABSENT, token, __VA_ARGS__

static int defers(void) { return (answer[2] | answer[3] << 8) == SEALWAX_FLAG_DEFERS; }

static void an_exchange_goes_from_step_to_step(void) {
  make_guard("{}");
  CHECK(NEW(guard, &exchange, CALL) == SEALWAX_OK);
  CHECK(told(SEALWAX_STEP, "{\"step\":\"ask\",\"name\":\"principal\"}"));
  /* An event out of order changes nothing, and returns no step. */
  const char *others[] = {"{\"result\":{}}", "{\"answer\":\"yes\"}", "{\"what\":1}", "{}", "[", ""};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    answer = NULL;
    CHECK(ON(exchange, SEALWAX_EVENT, 0, others[i], strlen(others[i])) == SEALWAX_INVALID_ARGUMENT);
    CHECK(answer == NULL);
  }
  CHECK(ON(exchange, ASKS_BACK) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_WRITE, 0, TEXT("1")) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_FORK, 0) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_SEAL_STATE, 0, TEXT("1")) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, ALICE) == SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"report\":\"requestState\""));
  CHECK(ON(exchange, SEALWAX_SEAL_STATE, 0, TEXT("{")) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_SEAL_STATE, 0, NO_TEXT) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_SEAL_STATE, 0, TEXT("{\"mine\":1}")) == SEALWAX_OK);
  CHECK(has_token(SEALWAX_TEXT) && !tells("mine"));
  CHECK(ON(exchange, EVENT("{\"result\":{\"members\":{\"resultType\":\"input_required\","
                           "\"requestState\":\"mine\"}}}")) == SEALWAX_OK);
  CHECK(tells("\"step\":\"respond\"") && tells("[[\"requestState\"],\"sw1.") && !tells("mine"));
  CHECK(ON(exchange, ALICE) == SEALWAX_INVALID_ARGUMENT);
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
}

static void an_exchange_has_its_session_and_its_handles(void) {
  sealwax_machine *handling;
  char metadata[4096];
  size_t len;
  make_guard("{\"sessions\":{\"ttl\":60}}");
  CHECK(sealwax_session_create(alice, NULL, (const uint8_t *)"1", 1, metadata, sizeof metadata,
                               &len, NULL) == SEALWAX_OK);
  const slice id = member(metadata, len, "\"sessionId\""),
              state = member(metadata, len, "\"state\"");
  CHECK(NEW(guard, &exchange,
            CALL_BY_ALICE(SEALWAX_FLAG_SESSION, ABSENT, SLICE(id), SLICE(state))) == SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"value\":\"1\""));
  CHECK(ON(exchange, SEALWAX_WRITE, 0, TEXT("{")) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_WRITE, 0, NO_TEXT) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, SEALWAX_WRITE, 0, TEXT("2")) == SEALWAX_OK && has_no_text(SEALWAX_MADE));
  CHECK(ON(exchange, SEALWAX_FORK, 0) == SEALWAX_OK && answer[0] == SEALWAX_TEXT);
  CHECK(tells("\"sessionId\":\"sess_") && tells("\"state\":\"sw1."));
#define SEAL "{\"op\":\"seal\",\"type\":\"order\"}"
  CHECK(NEW(exchange, &handling, SEALWAX_HANDLE, 0, TEXT("{\"op\":\"dance\"}")) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(NEW(exchange, &handling, SEALWAX_HANDLE, 0, TEXT(SEAL)) == SEALWAX_INVALID_ARGUMENT);
  CHECK(NEW(exchange, &handling, SEALWAX_HANDLE, 0, TEXT(SEAL), TEXT("[7]")) == SEALWAX_OK);
  /* An operation on a handle is an exchange of its own, and outlives the one that it began in. */
  sealwax_machine_free(exchange);
  CHECK(tells("\"step\":\"done\"") && tells("\"handle\":\""));
  sealwax_machine_free(handling);
  sealwax_machine_free(guard);
}

static void exchanges_end_at_any_moment(void) {
  for (size_t taken = 0; taken <= 2; taken++) {
    sealwax_codec *const of_all = codec;
    CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) ==
          SEALWAX_OK);
    make_guard("{}");
    sealwax_codec_free(codec);
    codec = of_all;
    CHECK(NEW(guard, &exchange, CALL) == SEALWAX_OK);
    /* It outlives its guard. */
    sealwax_machine_free(guard);
    if (taken > 0) CHECK(ON(exchange, ALICE) == SEALWAX_OK);
    if (taken > 1) CHECK(ON(exchange, EVENT("{\"result\":{}}")) == SEALWAX_OK);
    sealwax_machine_free(exchange);
  }
}

static void machines_refuse_null_and_invalid_documents(void) {
  guard = NULL;
  exchange = NULL;
  answer = NULL;
  FRAME(&given, SEALWAX_GUARD, 0, TEXT("{}"));
  CHECK(sealwax_machine_new(NULL, NULL, GIVEN, &guard, ANSWER) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_new(codec, NULL, NULL, 2, &guard, ANSWER) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_new(codec, NULL, GIVEN, NULL, ANSWER) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_new(codec, NULL, GIVEN, &guard, NULL, &answer_len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_new(codec, NULL, GIVEN, &guard, &answer, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(NULL, GIVEN, ANSWER) == SEALWAX_NULL_POINTER);
  const char *settings[] = {"\xff", "", "[]", "{\"requestStateTtl\":0}"};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    CHECK(NEW(NULL, &guard, SEALWAX_GUARD, 0, settings[i], strlen(settings[i])) ==
          SEALWAX_INVALID_ARGUMENT);
  CHECK(NEW(NULL, &exchange, CALL) == SEALWAX_INVALID_ARGUMENT);
  CHECK(guard == NULL && exchange == NULL && answer == NULL);
  make_guard("{}");
  /* A client's message never makes these functions fail. */
  for (int flags = 0; flags <= SEALWAX_FLAG_TOO_LARGE; flags += SEALWAX_FLAG_TOO_LARGE) {
    CHECK(NEW(guard, &exchange, SEALWAX_HTTP, flags, TEXT("POST"), ABSENT, ABSENT, ABSENT,
              TEXT("\xff")) == SEALWAX_OK);
    CHECK(tells("\"step\":\"reply\"") && tells("\"code\":\"malformed\""));
    sealwax_machine_free(exchange);
  }
  CHECK(NEW(guard, &exchange, SEALWAX_MESSAGE, 0, TEXT("tools/call"), TEXT("t"), NO_TEXT) ==
        SEALWAX_OK);
  CHECK(told(SEALWAX_STEP, "{\"step\":\"ask\",\"name\":\"principal\"}"));
  CHECK(ON(exchange, SEALWAX_EVENT, 0, NO_TEXT) == SEALWAX_INVALID_ARGUMENT);
  FRAME(&given, ALICE);
  CHECK(sealwax_machine_on(exchange, GIVEN, NULL, &answer_len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(exchange, GIVEN, &answer, NULL, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(exchange, NULL, 2, ANSWER) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(guard, GIVEN, ANSWER) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, ALICE) == SEALWAX_OK);
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
}

/* Begins the exchange of a tool's call. */
static void begin(const char *sent, size_t len) {
  const slice brought = {(char *)sent, len};
  CHECK(NEW(guard, &exchange, CALL_BY_ALICE(0, SLICE(brought), ABSENT, ABSENT)) == SEALWAX_OK);
}

static void a_request_needs_no_documents(void) {
  make_guard("{}");
  CHECK(defers());
  begin(ABSENT);
  CHECK(has_no_text(SEALWAX_DELIVER));
  CHECK(ON(exchange, ASKS_BACK) == SEALWAX_OK && has_token(SEALWAX_RESPOND));
  const slice sealed = text_of(answer, 0);
  token_len = sealed.len;
  memcpy(token, sealed.data, token_len);
  /* It is over: nothing is written. */
  answer = NULL;
  CHECK(ON(exchange, SEALWAX_RESULT, 0) == SEALWAX_INVALID_ARGUMENT && answer == NULL);
  sealwax_machine_free(exchange);
  begin(token, token_len);
  CHECK(told(SEALWAX_DELIVER, "mine"));
  CHECK(ON(exchange, RESULT(ABSENT, NO_TEXT, ABSENT, SEALWAX_FLAG_TTL)) == SEALWAX_OK);
  CHECK(has_no_text(SEALWAX_RESPOND));
  sealwax_machine_free(exchange);
  begin(token, token_len - 1);
  CHECK(answer[0] == SEALWAX_STEP && tells("\"step\":\"reply\"") && tells("-32602"));
  sealwax_machine_free(exchange);
  begin(ABSENT);
  CHECK(ON(exchange, RESULT(TEXT("input_required"), ABSENT, OTHER, 0)) == SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_STEP && tells("requestState: expected a text"));
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
  make_guard("{\"sessions\":{\"ttl\":60}}");
  CHECK(!defers());
  sealwax_machine_free(guard);
}

static void a_request_without_documents_is_of_somebody(void) {
  make_guard("{\"ledger\":{}}");
  /* No time is left to open the ledger. */
  CHECK(NEW(guard, &exchange,
            MESSAGE("tools/call", ABSENT, SEALWAX_FLAG_CALLER, TEXT("i"), TEXT("c"), ABSENT, ABSENT,
                    ABSENT, ABSENT, TEXT("0"))) == SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_STEP && tells("\"deliver\"") && tells("\"ledger_unavailable\""));
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
  make_guard("{}");
  CHECK(NEW(guard, &exchange, MESSAGE("tools/call", ABSENT, 0, ABSENT)) == SEALWAX_OK);
  CHECK(told(SEALWAX_STEP, "{\"step\":\"ask\",\"name\":\"principal\"}"));
  CHECK(ON(exchange, SEALWAX_PRINCIPAL, 0, ABSENT, ABSENT, TEXT("alice")) == SEALWAX_OK);
  CHECK(has_no_text(SEALWAX_DELIVER));
  sealwax_machine_free(exchange);
  CHECK(NEW(guard, &exchange,
            MESSAGE("tools/list", ABSENT, SEALWAX_FLAG_CALLER | SEALWAX_FLAG_ANONYMOUS, ABSENT)) ==
        SEALWAX_OK);
  CHECK(ON(exchange, RESULT(ABSENT, ABSENT, TEXT("2"), 0)) == SEALWAX_OK);
  CHECK(has_token(SEALWAX_RESPOND));
  const slice cursor = text_of(answer, 0);
  token_len = cursor.len;
  memcpy(token, cursor.data, token_len);
  sealwax_machine_free(exchange);
  /* It is anybody's. */
  const slice sent = {token, token_len};
  CHECK(NEW(guard, &exchange,
            MESSAGE("tools/list", SLICE(sent), SEALWAX_FLAG_CALLER, TEXT("i"), TEXT("c"))) ==
        SEALWAX_OK);
  CHECK(told(SEALWAX_DELIVER, "2"));
  sealwax_machine_free(exchange);
  /* An issuer alone is nobody, and so is nobody with a name: the adapter's fault, which is
   * answered. */
  for (int both = 0; both < 2; both++) {
    const int flags = SEALWAX_FLAG_CALLER | (both ? SEALWAX_FLAG_ANONYMOUS : 0);
    CHECK((both ? NEW(guard, &exchange,
                      MESSAGE("tools/call", ABSENT, flags, ABSENT, ABSENT, TEXT("alice")))
                : NEW(guard, &exchange, MESSAGE("tools/call", ABSENT, flags, TEXT("i")))) ==
          SEALWAX_OK);
    CHECK(answer[0] == SEALWAX_STEP && tells("-32603") && tells("\"invalid_argument\""));
    sealwax_machine_free(exchange);
  }
  /* A notification brings nothing, and gets no answer. */
  CHECK(NEW(guard, &exchange, MESSAGE("tools/call", NO_TEXT, SEALWAX_FLAG_NOTIFICATION, ABSENT)) ==
        SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_DELIVER || !tells("reply"));
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
}

static void what_a_client_sent_is_no_failure_of_a_call(void) {
  make_guard("{}");
  CHECK(NEW(guard, &exchange, SEALWAX_MESSAGE, 0, NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT) ==
        SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_DELIVER);
  sealwax_machine_free(exchange);
  begin(NO_TEXT);
  CHECK(answer[0] == SEALWAX_STEP && tells("-32602") && tells("\"code\":\"malformed\""));
  sealwax_machine_free(exchange);
  CHECK(NEW(guard, &exchange, SEALWAX_MESSAGE, SEALWAX_FLAG_CALLER, TEXT("tools/call"), TEXT("t"),
            NO_TEXT, TEXT("sw1.A"), ABSENT, ABSENT, TEXT("alice")) == SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_STEP && tells("\"code\":\"invalid_request\""));
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
}

/* (NULL, 0) is absent, and a pointer with the size 0 is empty. What is no UTF-8 is a client's fault
   in what it sent, and the caller's elsewhere. */
static void texts_are_absent_empty_or_no_texts(void) {
  sealwax_view *view = NULL;
  size_t len;
  CHECK(sealwax_view_new(codec, NULL, 0, TEXT(""), TEXT("alice"), &view, &error) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("\xff"), &view, &error) == SEALWAX_NOT_UTF8);
  CHECK(view == NULL && strstr(error.message, "UTF-8") != NULL);
  CHECK(sealwax_open(alice, &SESSION, NULL, TEXT("sw1.\xff"), NULL, 0, &len, NULL, NULL) ==
        SEALWAX_MALFORMED);
}

static void a_buffer_that_is_a_byte_too_small_is_not_written_to(void) {
  uint8_t payload[5] = {0};
  size_t len;
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, 4, &len, NULL, &error) ==
        SEALWAX_BUFFER_TOO_SMALL);
  CHECK(len == 5 && payload[0] == 0 && payload[4] == 0);
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, 5, &len, NULL, &error) ==
        SEALWAX_OK);
  CHECK(memcmp(payload, "hello", 5) == 0);
}

static void commands(void) {
  sealwax_machine *command;
  CHECK(NEW(NULL, &command, SEALWAX_COMMAND, 0,
            TEXT("{\"program\":\"p\",\"command\":\"inspect\",\"now\":0}")) == SEALWAX_OK);
  CHECK(told(SEALWAX_STEP, "{\"stdin\":\"the text to inspect\"}"));
  CHECK(ON(command, SEALWAX_EVENT, 0, TEXT("{\"bytes\":\"*\"}")) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(command, SEALWAX_RUN, 0, TEXT("{\"bytes\":\"\"}")) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(command, SEALWAX_EVENT, 0, TEXT("{\"bytes\":\"\"}")) == SEALWAX_OK);
  CHECK(told(
      SEALWAX_STEP,
      "{\"status\":1,\"stderr\":\"sealwax: malformed: expected a sealed token, a session id, a "
      "handle or a key text, alone or in a header, JSON or a log\"}"));
  sealwax_machine_free(command);
  CHECK(NEW(NULL, &command, SEALWAX_COMMAND, 0, TEXT("{}")) == SEALWAX_INVALID_ARGUMENT);
}

int main(void) {
  const test tests[] = {TEST(a_request_needs_no_documents),
                        TEST(a_request_without_documents_is_of_somebody),
                        TEST(what_a_client_sent_is_no_failure_of_a_call),
                        TEST(an_exchange_goes_from_step_to_step),
                        TEST(an_exchange_has_its_session_and_its_handles),
                        TEST(exchanges_end_at_any_moment),
                        TEST(machines_refuse_null_and_invalid_documents),
                        TEST(texts_are_absent_empty_or_no_texts),
                        TEST(a_buffer_that_is_a_byte_too_small_is_not_written_to),
                        TEST(commands)};
  return RUN(tests, "guards, exchanges and the command");
}
