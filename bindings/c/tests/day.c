/* A day of traffic in simulated time: users call a tool in two rounds, sessions go on, idle and
   expire, keys rotate each hour, users are signed out, and at noon a burst fills the ledger, which
   empties again. From the sixth hour to the last one the heap stays as it is.
   SEALWAX_EXCHANGES=1000000 takes some minutes. */
#define _GNU_SOURCE
#include "step.h"

#ifdef __GLIBC__
#include <malloc.h>

enum {
  DAY = 86400,
  HOUR = 3600,
  USERS = 100,
  SESSIONS = 64,
  CAPACITY = 1 << 20,
  BEGIN = 1800000000
};

/* As the guard's settings say: the ledger remembers a session for as long. */
static const sealwax_lifetime IDLE = {1800, false};

static sealwax_test_clock *clock_of_day;
static sealwax_codec *served;
static sealwax_memory *memory;
static uint64_t now = BEGIN;
static char metadata[SESSIONS][2048];
static long delivered, refused, expired, retired, full, used;

/* A generator for the traffic alone. */
static unsigned next_of(unsigned below) {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

/* Answers the questions for the ledger. */
static void ask(void) {
  static char event[16384];
  while (tells("\"step\":\"ledger\"")) {
    const char *reply;
    size_t len;
    CHECK(sealwax_memory_run(memory, step, step_len, now, &reply, &len, &error) == SEALWAX_OK);
    const int size = snprintf(event, sizeof event, "{\"ledger\":%.*s}", (int)len, reply);
    CHECK(size > 0 && (size_t)size < sizeof event);
    CHECK(sealwax_exchange_on(exchange, event, (size_t)size, NULL, 0, STEP) == SEALWAX_OK);
  }
}

/* Begins an exchange; returns whether it was delivered. */
static bool begin(const char *document, int size) {
  CHECK(sealwax_guard_message(guard, document, (size_t)size, NULL, 0, &exchange, STEP) ==
        SEALWAX_OK);
  ask();
  if (tells("\"step\":\"deliver\"")) {
    delivered++;
    return true;
  }
  CHECK(tells("\"step\":\"reply\""));
  refused++;
  expired += tells("\"expired\"");
  retired += tells("\"unknown_key\"");
  full += tells("no room");
  used += tells("\"used\"");
  sealwax_exchange_free(exchange);
  return false;
}

/* Copies the member of the step that is a text without escapes, in its quotes. */
static void member(const char *name, char *to, size_t room) {
  for (size_t at = 0; at + strlen(name) < step_len; at++) {
    if (memcmp(step + at, name, strlen(name)) != 0) continue;
    const char *text = step + at + strlen(name);
    const char *end = (const char *)memchr(text + 1, '"', step_len - at - strlen(name) - 1);
    CHECK(end != NULL && (size_t)(end + 2 - text) < room);
    memcpy(to, text, (size_t)(end + 1 - text));
    to[end + 1 - text] = '\0';
    return;
  }
  CHECK(!"the member");
}

/* Returns whether the result left: not where the ledger has no room for a session's state. */
static bool end(const char *result) {
  CHECK(sealwax_exchange_on(exchange, result, strlen(result), NULL, 0, STEP) == SEALWAX_OK);
  ask();
  if (tells("\"step\":\"respond\"")) return true;
  CHECK(tells("no room"));
  full++;
  return false;
}

#define TOOL \
  "\"method\":\"tools/call\",\"target\":\"t\",\"modern\":true,\"principal\":{\"subject\":\"%u\"}"

/* Two rounds, and the second one again. Returns false where the ledger is full. */
static bool two_rounds(unsigned user) {
  char document[4096], state[2048], result[2200];
  if (!begin(document, snprintf(document, sizeof document, "{" TOOL "}", user))) return false;
  const char *token_text;
  size_t len;
  CHECK(sealwax_exchange_seal_state(exchange, TEXT("{\"page\":2}"), &token_text, &len, NULL) ==
        SEALWAX_OK);
  snprintf(state, sizeof state, "\"%.*s\"", (int)len, token_text);
  snprintf(result, sizeof result,
           "{\"result\":{\"members\":{\"resultType\":\"input_required\",\"requestState\":%s}}}",
           state);
  CHECK(end(result));
  sealwax_exchange_free(exchange);
  const int size = snprintf(document, sizeof document, "{" TOOL ",\"token\":%s}", user, state);
  if (!begin(document, size)) return false;
  CHECK(end("{\"result\":{\"members\":{\"resultType\":\"complete\"}}}"));
  sealwax_exchange_free(exchange);
  CHECK(!begin(document, size));
  return true;
}

/* Keeps the metadata that a step or sealwax_session_create returned. */
static void keep(unsigned at) {
  char id[128], state[1024];
  member("\"sessionId\":", id, sizeof id);
  member("\"state\":", state, sizeof state);
  snprintf(metadata[at], sizeof metadata[at], "{\"id\":%s,\"state\":%s}", id, state);
}

/* A call in a session, which begins anew where it has ended. */
static void session(unsigned at) {
  char document[8192];
  if (metadata[at][0] == '\0') {
    char text[2048];
    size_t len;
    sealwax_view *view;
    const int size = snprintf(text, sizeof text, "%u", at);
    CHECK(sealwax_view_new(served, NULL, 0, NULL, 0, text, (size_t)size, &view, NULL) ==
          SEALWAX_OK);
    CHECK(sealwax_session_create(view, &IDLE, (const uint8_t *)"0", 1, text, sizeof text, &len,
                                 NULL) == SEALWAX_OK);
    sealwax_view_free(view);
    step = text;
    step_len = len;
    keep(at);
  }
  const int size =
      snprintf(document, sizeof document, "{" TOOL ",\"session\":%s}", at, metadata[at]);
  if (!begin(document, size)) {
    metadata[at][0] = '\0';
    return;
  }
  CHECK(sealwax_exchange_write(exchange, TEXT("{\"count\":1}"), &error) == SEALWAX_OK);
  if (end("{\"result\":{\"members\":{\"resultType\":\"complete\"}}}")) keep(at);
  sealwax_exchange_free(exchange);
}

/* A new key seals; the one before still opens. */
static void rotate(void) {
  static sealwax_key *keys[2];
  bool changed;
  sealwax_ring *rotated;
  sealwax_key_free(keys[1]);
  keys[1] = keys[0];
  CHECK(sealwax_key_generate(&keys[0], NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_new((const sealwax_key *const *)keys, keys[1] == NULL ? 1 : 2, &rotated,
                         NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_set_keys(served, rotated, &changed, NULL) == SEALWAX_OK && changed);
  sealwax_ring_free(rotated);
}

static void sign_out(unsigned user) {
  char document[64];
  const int size = snprintf(document, sizeof document, "{\"subject\":\"%u\"}", user);
  CHECK(sealwax_guard_revoke(guard, document, (size_t)size, HOUR, &exchange, STEP) == SEALWAX_OK);
  ask();
  CHECK(tells("\"step\":\"done\""));
  sealwax_exchange_free(exchange);
}

static size_t in_use(void) { return mallinfo2().uordblks; }

static void a_day(void) {
  const char *wanted = getenv("SEALWAX_EXCHANGES");
  const long count = wanted == NULL ? 4000 : atol(wanted);
  const uint64_t two_hours = 2 * HOUR;
  const sealwax_limits limits = {NULL, NULL, &two_hours};
  size_t early = 0, late = 0, peak = 0;
  CHECK(sealwax_test_clock_new(now * 1000, &clock_of_day, NULL) == SEALWAX_OK);
  CHECK(sealwax_test_codec_new(ring, TEXT("a"), &limits, clock_of_day, &served, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_guard_new(served, TEXT("{\"sessions\":{\"ttl\":1800},\"ledger\":{\"local\":true}}"),
                          &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_memory_new(CAPACITY, now, &memory, NULL) == SEALWAX_OK);
  int hour = 0;
  for (long i = 0; i < count; i++) {
    now = BEGIN + (uint64_t)((double)i * DAY / (double)count);
    CHECK(sealwax_test_clock_set(clock_of_day, now * 1000, NULL) == SEALWAX_OK);
    two_rounds(next_of(USERS));
    session(next_of(SESSIONS));
    if (now < BEGIN + (uint64_t)(hour + 1) * HOUR) continue;
    hour++;
    rotate();
    sign_out(next_of(USERS));
    if (hour == 12) {
      while (two_rounds(USERS)) {
      }
      CHECK(full > 0);
      peak = in_use();
    }
    const size_t found = in_use();
    if (hour >= 4 && hour < 12 && found > early) early = found;
    if (hour >= 20 && found > late) late = found;
  }
  printf(
      "a day: %ld delivered, %ld refused: %ld used, %ld expired, %ld under a retired key, %ld for "
      "a full ledger; "
      "heap in use: %zu kB before noon, %zu kB in the burst, %zu kB in the evening\n",
      delivered, refused, used, expired, retired, full, early / 1024, peak / 1024, late / 1024);
  /* Tables that grew for the burst stay as large. */
  CHECK(hour == 23 && late <= early + early / 4);
  CHECK(delivered > 2 * count && expired + retired > 100 && used >= count && full > 0);
  sealwax_memory_free(memory);
  sealwax_guard_free(guard);
  sealwax_codec_free(served);
  sealwax_test_clock_free(clock_of_day);
}

int main(void) {
  const test tests[] = {TEST(a_day)};
  return RUN(tests, "a day of traffic");
}
#else
int main(void) {
  printf("LEFT OUT for want of glibc: a day of traffic\n");
  return 0;
}
#endif
