/* Guards and their exchanges over the ABI. */
#include "step.h"

#define CALL "{\"method\":\"tools/call\",\"target\":\"t\",\"modern\":true}"
#define ALICE "{\"principal\":{\"subject\":\"alice\"}}"

static int told(const char *text) {
  return step_len == strlen(text) && memcmp(step, text, step_len) == 0;
}

static void an_exchange_goes_from_step_to_step(void) {
  CHECK(sealwax_guard_new(codec, TEXT("{\"hasAccept\":true}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_message(guard, TEXT(CALL), TEXT("{}"), &exchange, STEP) == SEALWAX_OK);
  CHECK(told("{\"step\":\"identify\"}"));
  /* An event out of order changes nothing, and returns no step. */
  const char *others[] = {"{\"result\":{}}", "{\"answer\":\"yes\"}", "{\"what\":1}", "{}", "[", ""};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    step = NULL;
    CHECK(sealwax_exchange_on(exchange, others[i], strlen(others[i]), NULL, 0, STEP) ==
          SEALWAX_INVALID_ARGUMENT);
    CHECK(step == NULL);
  }
  CHECK(sealwax_exchange_write(exchange, TEXT("1"), &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_fork(exchange, STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_seal_state(exchange, TEXT("1"), STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"report\":\"requestState\""));
  CHECK(sealwax_exchange_seal_state(exchange, TEXT("{"), STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_seal_state(exchange, TEXT("\xff"), STEP) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_exchange_seal_state(exchange, TEXT("{\"mine\":1}"), STEP) == SEALWAX_OK);
  CHECK(step_len > 4 && memcmp(step, "sw1.", 4) == 0 && !tells("mine"));
  CHECK(sealwax_exchange_on(exchange,
                            TEXT("{\"result\":{\"members\":{\"resultType\":\"input_required\","
                                 "\"requestState\":\"mine\"}}}"),
                            NULL, 0, STEP) == SEALWAX_OK);
  CHECK(tells("\"step\":\"respond\"") && tells("\"requestState\":\"sw1.") && !tells("mine"));
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_INVALID_ARGUMENT);
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
}

static void an_exchange_has_its_session_and_its_handles(void) {
  sealwax_exchange *handling;
  char message[8192], metadata[4096];
  size_t len;
  CHECK(sealwax_guard_new(codec, TEXT("{\"sessions\":{\"ttl\":60}}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_session_create(alice, NULL, (const uint8_t *)"1", 1, metadata, sizeof metadata,
                               &len, NULL) == SEALWAX_OK);
  /* Texts without escapes, each in its quotes. */
  const char *id = strstr(metadata, "\"sessionId\":") + 12;
  const char *state = strstr(metadata, "\"state\":") + 8;
  int written = snprintf(message, sizeof message,
                         "{\"method\":\"tools/call\",\"target\":\"t\",\"session\":{\"id\":%.*s,"
                         "\"state\":%.*s},\"principal\":{\"subject\":\"alice\"}}",
                         (int)(strchr(id + 1, '"') + 1 - id), id,
                         (int)(strchr(state + 1, '"') + 1 - state), state);
  CHECK(written > 0 && (size_t)written < sizeof message);
  CHECK(sealwax_guard_message(guard, message, (size_t)written, NULL, 0, &exchange, STEP) ==
        SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"value\":\"1\""));
  CHECK(sealwax_exchange_write(exchange, TEXT("{"), &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_write(exchange, TEXT("\xff"), &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_exchange_write(exchange, TEXT("2"), &error) == SEALWAX_OK);
  CHECK(sealwax_exchange_fork(exchange, STEP) == SEALWAX_OK);
  CHECK(tells("\"sessionId\":\"sess_") && tells("\"state\":\"sw1."));
  CHECK(sealwax_exchange_handle(exchange, TEXT("{\"op\":\"dance\"}"), NULL, 0, &handling, STEP) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_handle(exchange, TEXT("{\"op\":\"seal\",\"type\":\"order\"}"), NULL, 0,
                                &handling, STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_handle(exchange, TEXT("{\"op\":\"seal\",\"type\":\"order\"}"), TEXT("[7]"),
                                &handling, STEP) == SEALWAX_OK);
  /* An operation on a handle is an exchange of its own, and outlives the one that it began in. */
  sealwax_exchange_free(exchange);
  CHECK(tells("\"step\":\"done\"") && tells("\"handle\":\""));
  sealwax_exchange_free(handling);
  sealwax_guard_free(guard);
}

static void exchanges_end_at_any_moment(void) {
  const char *events[] = {ALICE, "{\"result\":{}}"};
  for (size_t taken = 0; taken <= sizeof events / sizeof *events; taken++) {
    sealwax_codec *own;
    CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &own, NULL) == SEALWAX_OK);
    CHECK(sealwax_guard_new(own, TEXT("{}"), &guard, NULL) == SEALWAX_OK);
    sealwax_codec_free(own);
    CHECK(sealwax_guard_message(guard, TEXT(CALL), NULL, 0, &exchange, STEP) == SEALWAX_OK);
    /* It outlives its guard. */
    sealwax_guard_free(guard);
    for (size_t i = 0; i < taken; i++)
      CHECK(sealwax_exchange_on(exchange, events[i], strlen(events[i]), NULL, 0, STEP) ==
            SEALWAX_OK);
    sealwax_exchange_free(exchange);
  }
}

static void guards_and_exchanges_refuse_null_and_invalid_documents(void) {
  guard = NULL;
  exchange = NULL;
  step = NULL;
  CHECK(sealwax_guard_new(NULL, TEXT("{}"), &guard, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_new(codec, NULL, 2, &guard, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_new(codec, TEXT("{}"), NULL, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_new(codec, TEXT("\xff"), &guard, &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_guard_new(codec, TEXT("[]"), &guard, &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_guard_new(codec, TEXT("{\"requestStateTtl\":0}"), &guard, &error) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(guard == NULL);
  CHECK(sealwax_guard_new(codec, TEXT("{}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_message(NULL, TEXT(CALL), NULL, 0, &exchange, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_message(guard, NULL, 2, NULL, 0, &exchange, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_message(guard, TEXT(CALL), NULL, 0, NULL, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_message(guard, TEXT(CALL), NULL, 0, &exchange, NULL, &step_len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_transport(guard, TEXT("{}"), NULL, 0, &exchange, &step, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(exchange == NULL && step == NULL);
  /* A client's message never makes these functions fail. */
  const char *sent[] = {"\xff", "", "[]", "{\"method\":\"\\ud800\"}"};
  for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
    CHECK(sealwax_guard_message(guard, sent[i], strlen(sent[i]), NULL, 0, &exchange, STEP) ==
          SEALWAX_OK);
    CHECK(tells("\"step\":\"reply\"") && tells("\"code\":\"malformed\""));
    sealwax_exchange_free(exchange);
    CHECK(sealwax_guard_transport(guard, sent[i], strlen(sent[i]), NULL, 0, &exchange, STEP) ==
          SEALWAX_OK);
    CHECK(tells("\"step\":\"reply\""));
    sealwax_exchange_free(exchange);
  }
  CHECK(sealwax_guard_message(guard, TEXT(CALL), TEXT("\xff"), &exchange, STEP) == SEALWAX_OK);
  CHECK(told("{\"step\":\"identify\"}"));
  CHECK(sealwax_exchange_on(NULL, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, NULL, &step_len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_on(exchange, TEXT("\xff"), NULL, 0, STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_handle(exchange, TEXT("{}"), NULL, 0, NULL, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_write(NULL, TEXT("1"), &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_fork(NULL, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_seal_state(NULL, TEXT("1"), STEP) == SEALWAX_NULL_POINTER);
  sealwax_exchange_free(exchange);
  /* An invalid principal is the adapter's fault, not the client's. */
  CHECK(sealwax_guard_message(guard,
                              TEXT("{\"method\":\"tools/call\",\"target\":\"t\",\"principal\":{}}"),
                              NULL, 0, &exchange, STEP) == SEALWAX_OK);
  CHECK(tells("-32603") && tells("\"code\":\"invalid_argument\""));
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
}

#define ABSENT NULL, 0
#define NO_TEXT TEXT("\xff")
#define NEXT &next, STEP

static int32_t next;
static const sealwax_caller caller = {NULL, 0, NULL, 0, TEXT("alice"), false};
static const sealwax_caller nobody = {NULL, 0, NULL, 0, NULL, 0, true};

/* Begins the exchange of a tool's call. */
static sealwax_status begin(const char *token, size_t token_len) {
  return sealwax_guard_request(guard, TEXT("tools/call"), TEXT("t"), TEXT("{\"id\":7}"), token,
                               token_len, &caller, NULL, SEALWAX_MODERN, &exchange, NEXT);
}

static void a_request_needs_no_documents(void) {
  char token[4096];
  size_t len;
  CHECK(sealwax_guard_new(codec, TEXT("{}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_defers(guard) && !sealwax_guard_defers(NULL));
  CHECK(begin(ABSENT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_DELIVER && step == NULL && step_len == 0);
  CHECK(sealwax_exchange_result(exchange, TEXT("input_required"), ABSENT, TEXT("mine"), false,
                                NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_RESPOND && step_len > 4 && memcmp(step, "sw1.", 4) == 0);
  len = step_len;
  memcpy(token, step, len);
  /* It is over: nothing is written. */
  next = -1;
  CHECK(sealwax_exchange_result(exchange, ABSENT, ABSENT, ABSENT, false, NEXT) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(next == -1);
  sealwax_exchange_free(exchange);
  CHECK(begin(token, len) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_DELIVER && told("mine"));
  CHECK(sealwax_exchange_result(exchange, ABSENT, NO_TEXT, ABSENT, true, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_RESPOND && step == NULL && step_len == 0);
  sealwax_exchange_free(exchange);
  CHECK(begin(token, len - 1) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && tells("\"step\":\"reply\"") && tells("-32602"));
  sealwax_exchange_free(exchange);
  CHECK(begin(ABSENT) == SEALWAX_OK);
  CHECK(sealwax_exchange_result(exchange, TEXT("input_required"), ABSENT, NO_TEXT, false, NEXT) ==
        SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && tells("requestState: expected a text"));
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
  CHECK(sealwax_guard_new(codec, TEXT("{\"sessions\":{\"ttl\":60}}"), &guard, NULL) == SEALWAX_OK);
  CHECK(!sealwax_guard_defers(guard));
  sealwax_guard_free(guard);
}

static void a_request_without_documents_is_of_somebody(void) {
  const uint64_t nothing = 0;
  const sealwax_caller others = {TEXT("i"), TEXT("c"), NULL, 0, false};
  const sealwax_caller wrong = {TEXT("i"), NULL, 0, NULL, 0, false};
  char cursor[512];
  CHECK(sealwax_guard_new(codec, TEXT("{\"hasAccept\":true}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_request(guard, TEXT("tools/call"), TEXT("t"), ABSENT, ABSENT, NULL, NULL, 0,
                              &exchange, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && told("{\"step\":\"identify\"}"));
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\""));
  sealwax_exchange_free(exchange);
  CHECK(sealwax_guard_request(guard, TEXT("tools/list"), ABSENT, ABSENT, ABSENT, &nobody, NULL, 0,
                              &exchange, NEXT) == SEALWAX_OK);
  CHECK(sealwax_exchange_result(exchange, ABSENT, ABSENT, TEXT("2"), false, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_RESPOND && step_len > 4 && step_len < sizeof cursor);
  const size_t len = step_len;
  memcpy(cursor, step, len);
  sealwax_exchange_free(exchange);
  /* Anybody's, but no time is left to ask `accept`. */
  CHECK(sealwax_guard_request(guard, TEXT("tools/list"), ABSENT, ABSENT, cursor, len, &others,
                              &nothing, 0, &exchange, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && tells("\"reply\"") && tells("\"accept_unavailable\""));
  sealwax_exchange_free(exchange);
  /* An issuer alone is nobody: the adapter's fault, which is answered. */
  CHECK(sealwax_guard_request(guard, TEXT("tools/call"), TEXT("t"), ABSENT, ABSENT, &wrong, NULL, 0,
                              &exchange, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && tells("-32603") && tells("\"invalid_argument\""));
  sealwax_exchange_free(exchange);
  /* A notification brings nothing, and gets no answer. */
  CHECK(sealwax_guard_request(guard, TEXT("tools/call"), TEXT("t"), ABSENT, NO_TEXT, NULL, NULL,
                              SEALWAX_NOTIFICATION, &exchange, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP || next == SEALWAX_NEXT_DELIVER);
  CHECK(step == NULL || !tells("reply"));
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
}

static void requests_without_documents_refuse_null_and_take_any_text(void) {
  const sealwax_caller both = {NULL, 0, NULL, 0, TEXT("alice"), true};
  const sealwax_caller no_text = {NULL, 0, NULL, 0, NO_TEXT, false};
  const sealwax_caller no_memory = {NULL, 0, NULL, 1, NULL, 0, false};
  CHECK(sealwax_guard_new(codec, TEXT("{}"), &guard, NULL) == SEALWAX_OK);
  exchange = NULL;
  step = NULL;
#define CALL_OF(guard, caller, exchange, next)                                                 \
  sealwax_guard_request(guard, TEXT("tools/call"), TEXT("t"), ABSENT, ABSENT, caller, NULL, 0, \
                        exchange, next, STEP)
  CHECK(CALL_OF(NULL, &caller, &exchange, &next) == SEALWAX_NULL_POINTER);
  CHECK(CALL_OF(guard, &caller, NULL, &next) == SEALWAX_NULL_POINTER);
  CHECK(CALL_OF(guard, &caller, &exchange, NULL) == SEALWAX_NULL_POINTER);
  CHECK(CALL_OF(guard, &no_memory, &exchange, &next) == SEALWAX_NULL_POINTER);
  CHECK(CALL_OF(guard, &no_text, &exchange, &next) == SEALWAX_NOT_UTF8);
  CHECK(CALL_OF(guard, &both, &exchange, &next) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_result(NULL, ABSENT, ABSENT, ABSENT, false, NEXT) == SEALWAX_NULL_POINTER);
  CHECK(exchange == NULL && step == NULL);
  /* What a client sent is no failure of the call. */
  CHECK(sealwax_guard_request(guard, NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT, NULL, NULL, 0, &exchange,
                              NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_DELIVER);
  sealwax_exchange_free(exchange);
  CHECK(begin(NO_TEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && tells("-32602") && tells("\"code\":\"malformed\""));
  sealwax_exchange_free(exchange);
  CHECK(sealwax_guard_request(guard, TEXT("tools/call"), TEXT("t"), NO_TEXT, ABSENT, &caller, NULL,
                              0, &exchange, NEXT) == SEALWAX_OK);
  CHECK(next == SEALWAX_NEXT_STEP && tells("\"code\":\"invalid_request\""));
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
}

int main(void) {
  const test tests[] = {TEST(a_request_needs_no_documents),
                        TEST(a_request_without_documents_is_of_somebody),
                        TEST(requests_without_documents_refuse_null_and_take_any_text),
                        TEST(an_exchange_goes_from_step_to_step),
                        TEST(an_exchange_has_its_session_and_its_handles),
                        TEST(exchanges_end_at_any_moment),
                        TEST(guards_and_exchanges_refuse_null_and_invalid_documents)};
  return RUN(tests, "guards and exchanges");
}
