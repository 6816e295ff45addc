/* c OPERATION TIMES: does what is counted of the C library so often, with a clock that stands and
   randomness that is known. */
#include <sys/types.h>
#include <time.h>

#include "../../../bindings/c/tests/frame.h"

#define DONE(call) CHECK((call) == SEALWAX_OK)
#define REQUEST TEXT("tools/call"), TEXT("delete_note")
#define ARGUMENTS TEXT("{\"id\":7,\"reason\":\"the user asked for it\"}")

/* In front of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now) {
  (void)clock;
  now->tv_sec = 1800000000;
  now->tv_nsec = 0;
  return 0;
}

ssize_t getrandom(void *bytes, size_t len, unsigned flags) {
  static uint64_t drawn;
  (void)flags;
  drawn++;
  memset(bytes, 0x5a, len);
  memcpy(bytes, &drawn, len < sizeof drawn ? len : sizeof drawn);
  return (ssize_t)len;
}

#define CALLER TEXT("https://idp.example.com"), TEXT("cli-7"), TEXT("alice")
#define CALL(flags, token, ...)                                                                    \
  SEALWAX_MESSAGE, SEALWAX_FLAG_MODERN | SEALWAX_FLAG_CALLER | (flags), REQUEST, ARGUMENTS, token, \
      CALLER, __VA_ARGS__

static sealwax_codec *codec;
static sealwax_view *view;
static sealwax_machine *guard, *exchange;
static uint8_t context[32];
static sealwax_purpose purpose = {
    .kind = SEALWAX_KIND_REQUEST_STATE, .context = context, .context_len = sizeof context};
/* 256 bytes of JSON. */
static char value[257];
static char token[8192];
static size_t token_len;
/* What a request and its handler tell. */
static frame call, told, result;
static const uint8_t *answer;
static size_t answer_len;

static void make_view(void) { DONE(sealwax_view_new(codec, CALLER, &view, NULL)); }

static void set_up(void) {
  sealwax_ring *ring;
  const int written = snprintf(value, sizeof value, "{\"round\":1,\"notes\":\"%0234d\"}", 0);
  CHECK(written == sizeof value - 1);
  DONE(sealwax_ring_parse(TEXT("swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"), &ring,
                          NULL));
  DONE(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL));
  sealwax_ring_free(ring);
  make_view();
}

static void another_view(void) {
  sealwax_view_free(view);
  make_view();
}

static void make_context(void) {
  DONE(sealwax_request_context(REQUEST, ARGUMENTS, &context, NULL));
}

static void seal(void) {
  DONE(sealwax_seal(view, &purpose, NULL, (const uint8_t *)value, sizeof value - 1, token,
                    sizeof token, &token_len, NULL));
}

static void open_token(void) {
  sealwax_opened opened;
  uint8_t payload[1024];
  size_t len;
  DONE(sealwax_open(view, &purpose, NULL, token, token_len, payload, sizeof payload, &len, &opened,
                    NULL));
  CHECK(len == sizeof value - 1);
}

static void tell(const frame *given) {
  DONE(sealwax_machine_on(exchange, given->bytes, given->len, &answer, &answer_len, NULL));
}

static void begin(void) {
  DONE(sealwax_machine_new(NULL, guard, call.bytes, call.len, &exchange, &answer, &answer_len,
                           NULL));
}

static void plain(void) {
  begin();
  CHECK(answer[0] == SEALWAX_DELIVER);
  tell(&result);
  CHECK(answer[0] == SEALWAX_RESPOND);
  sealwax_machine_free(exchange);
}

static void state(void) {
  begin();
  CHECK(answer[0] == SEALWAX_DELIVER);
  tell(&told);
  const slice sealed = text_of(answer, 0);
  FRAME(&result, SEALWAX_RESULT, 0, TEXT("input_required"), ABSENT, SLICE(sealed));
  tell(&result);
  CHECK(answer[0] == SEALWAX_RESPOND);
  sealwax_machine_free(exchange);
}

static void session(void) {
  begin();
  tell(&told);
  tell(&result);
  sealwax_machine_free(exchange);
}

static void make_guard(const char *settings, int told_kind) {
  FRAME(&call, SEALWAX_GUARD, 0, settings, strlen(settings));
  DONE(sealwax_machine_new(codec, NULL, call.bytes, call.len, &guard, &answer, &answer_len, NULL));
  FRAME(&told, told_kind, 0, value, sizeof value - 1);
  FRAME(&result, SEALWAX_RESULT, 0);
}

/* The message of a session, from its metadata. */
static void begin_session(void) {
  static char metadata[4096];
  size_t len;
  make_guard("{\"sessions\":{}}", SEALWAX_WRITE);
  DONE(sealwax_session_create(view, NULL, (const uint8_t *)value, sizeof value - 1, metadata,
                              sizeof metadata, &len, NULL));
  const slice id = member(metadata, len, "\"sessionId\""),
              sealed = member(metadata, len, "\"state\"");
  FRAME(&call, CALL(SEALWAX_FLAG_SESSION, ABSENT, ABSENT, SLICE(id), SLICE(sealed)));
}

static void (*prepared(const char *name))(void) {
  if (strcmp(name, "context") == 0) return make_context;
  if (strcmp(name, "view") == 0) return another_view;
  if (strcmp(name, "session") == 0) {
    begin_session();
    return session;
  }
  make_context();
  if (strcmp(name, "seal") == 0) return seal;
  if (strcmp(name, "open") == 0) {
    seal();
    return open_token;
  }
  make_guard("{}", SEALWAX_SEAL_STATE);
  FRAME(&call, CALL(0, ABSENT, ABSENT));
  if (strcmp(name, "plain") == 0) return plain;
  CHECK(strcmp(name, "state") == 0);
  state();
  const slice sealed = text_of(result.bytes, 2);
  memcpy(token, sealed.data, sealed.len);
  const slice sent = {token, sealed.len};
  FRAME(&call, CALL(0, SLICE(sent), ABSENT));
  return state;
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  set_up();
  void (*const run)(void) = prepared(argv[1]);
  for (long times = strtol(argv[2], NULL, 10); times > 0; times--) run();
  return 0;
}
