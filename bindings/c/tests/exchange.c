/* Machines over the ABI: what is of memory, pointers and texts. The engine's tests and the
   transcripts of every language have what they answer. */
#include "fixture.h"
#include "frame.h"

static sealwax_machine *guard, *exchange;
static const uint8_t *answer;
static size_t answer_len;
static frame given;

#define ANSWER &answer, &answer_len, &error
#define GIVEN given.bytes, given.len

/* NEW(parent, machine, frame), ON(machine, frame): a call with a frame of the rest. */
#define NEW(parent, machine, ...) \
  (FRAME(&given, __VA_ARGS__), sealwax_machine_new(codec, parent, GIVEN, machine, ANSWER))
#define ON(machine, ...) (FRAME(&given, __VA_ARGS__), sealwax_machine_on(machine, GIVEN, ANSWER))

#define CALL SEALWAX_MESSAGE, SEALWAX_FLAG_MODERN, TEXT("tools/call"), TEXT("t"), TEXT("{\"id\":7}")
#define ALICE SEALWAX_TOLD, 0, TEXT("{\"subject\":\"alice\"}")
#define EVENT(document) SEALWAX_EVENT, 0, TEXT(document)
#define NO_TEXT TEXT("\xff")

static int tells(const char *part) { return has((const char *)answer, answer_len, part); }

static void make_guard(const char *settings) {
  CHECK(NEW(NULL, &guard, SEALWAX_GUARD, 0, settings, strlen(settings)) == SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_MADE && text_of(answer, 0).data == NULL);
}

/* Each outlives what it began in, and ends at any moment. */
static void exchanges_end_at_any_moment(void) {
  sealwax_machine *handling;
  for (size_t taken = 0; taken <= 3; taken++) {
    sealwax_codec *const of_all = codec;
    CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) ==
          SEALWAX_OK);
    make_guard("{}");
    sealwax_codec_free(codec);
    codec = of_all;
    CHECK(NEW(guard, &exchange, CALL) == SEALWAX_OK);
    sealwax_machine_free(guard);
    if (taken > 0) CHECK(ON(exchange, ALICE) == SEALWAX_OK);
    if (taken > 1) CHECK(ON(exchange, EVENT("{\"result\":{}}")) == SEALWAX_OK);
    if (taken > 2)
      CHECK(NEW(exchange, &handling, SEALWAX_HANDLE, 0,
                TEXT("{\"op\":\"seal\",\"type\":\"order\"}"), TEXT("[7]")) == SEALWAX_OK);
    sealwax_machine_free(exchange);
    if (taken > 2) {
      CHECK(tells("\"step\":\"done\""));
      sealwax_machine_free(handling);
    }
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
  CHECK(tells("{\"step\":\"ask\",\"name\":\"principal\"}"));
  sealwax_machine_free(exchange);
  CHECK(NEW(guard, &exchange, SEALWAX_MESSAGE, SEALWAX_FLAG_CALLER, TEXT("tools/call"), TEXT("t"),
            ABSENT, NO_TEXT, ABSENT, ABSENT, TEXT("alice")) == SEALWAX_OK);
  CHECK(answer[0] == SEALWAX_STEP && tells("-32602") && tells("\"code\":\"malformed\""));
  sealwax_machine_free(exchange);
  CHECK(NEW(guard, &exchange, CALL) == SEALWAX_OK);
  CHECK(ON(exchange, SEALWAX_EVENT, 0, NO_TEXT) == SEALWAX_INVALID_ARGUMENT);
  /* An event out of order changes nothing, and returns no step. */
  answer = NULL;
  CHECK(ON(exchange, EVENT("{\"result\":{}}")) == SEALWAX_INVALID_ARGUMENT && answer == NULL);
  FRAME(&given, ALICE);
  CHECK(sealwax_machine_on(exchange, GIVEN, NULL, &answer_len, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(exchange, GIVEN, &answer, NULL, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(exchange, NULL, 2, ANSWER) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_machine_on(guard, GIVEN, ANSWER) == SEALWAX_INVALID_ARGUMENT);
  CHECK(ON(exchange, ALICE) == SEALWAX_OK);
  CHECK(ON(exchange, SEALWAX_SEAL_STATE, 0, NO_TEXT) == SEALWAX_INVALID_ARGUMENT);
  sealwax_machine_free(exchange);
  sealwax_machine_free(guard);
  CHECK(NEW(NULL, &exchange, SEALWAX_COMMAND, 0, TEXT("{}")) == SEALWAX_INVALID_ARGUMENT);
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

int main(void) {
  const test tests[] = {TEST(exchanges_end_at_any_moment),
                        TEST(machines_refuse_null_and_invalid_documents),
                        TEST(texts_are_absent_empty_or_no_texts),
                        TEST(a_buffer_that_is_a_byte_too_small_is_not_written_to)};
  return RUN(tests, "machines");
}
