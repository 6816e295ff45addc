/* A day of traffic in simulated time: users call a tool in two rounds, sessions go on, idle and
   expire, keys rotate each hour, users are signed out, and at noon a burst fills the ledger, which
   empties again. From the sixth hour to the last one the heap stays as it is.
   SEALWAX_EXCHANGES=1000000 takes some minutes. */
#define _GNU_SOURCE
#include "step.h"

#ifdef __GLIBC__
#include <malloc.h>

enum { DAY = 86400, HOUR = 3600, USERS = 100, SESSIONS = 64, BEGIN = 1800000000 };

/* As the guard's settings say: the ledger remembers a session for as long. */
static const sealwax_lifetime IDLE = {1800, false};

static sealwax_test_clock *clock_of_day;
static sealwax_machine *memory;
static uint64_t now = BEGIN;
static char metadata[SESSIONS][2048];
static size_t metadata_len[SESSIONS];
static long delivered, refused, expired, retired, full, used;

/* A generator for the traffic alone. */
static unsigned next_of(unsigned below) {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

/* A number, or what begins with one. */
static slice number(const char *format, uint64_t number) {
  static char text[64];
  const slice written = {text, (size_t)snprintf(text, sizeof text, format, (unsigned long)number)};
  return written;
}

/* Answers the questions for the ledger. */
static void ask(void) {
  while (tells("\"name\":\"ledger\"")) {
    const slice command = text_of(answer, 0), time = number("%lu", now);
    CHECK(ON(memory, SEALWAX_RUN, 0, SLICE(command), SLICE(time)) == SEALWAX_OK);
    const slice reply = text_of(answer, 0);
    CHECK(ON(exchange, SEALWAX_TOLD, 0, SLICE(reply)) == SEALWAX_OK);
  }
}

/* Begins a user's call of a tool; returns whether it was delivered. */
static bool begin(unsigned user, slice brought, slice id, slice state) {
  const slice name = number("%lu", user);
  const int flags = SEALWAX_FLAG_MODERN | SEALWAX_FLAG_CALLER;
  CHECK(NEW(guard, &exchange, SEALWAX_MESSAGE,
            id.data == NULL ? flags : flags | SEALWAX_FLAG_SESSION, TEXT("tools/call"), TEXT("t"),
            ABSENT, SLICE(brought), ABSENT, ABSENT, SLICE(name), ABSENT, SLICE(id),
            SLICE(state)) == SEALWAX_OK);
  ask();
  if (answer[0] == SEALWAX_DELIVER || tells("\"step\":\"deliver\"")) {
    delivered++;
    return true;
  }
  CHECK(tells("\"step\":\"reply\""));
  refused++;
  expired += tells("\"expired\"");
  retired += tells("\"unknown_key\"");
  full += tells("no room");
  used += tells("\"used\"");
  sealwax_machine_free(exchange);
  return false;
}

static const slice NOTHING = {NULL, 0};

/* Returns whether the result left: not where the ledger has no room for a session's state. */
static bool end(const char *type, slice brought) {
  CHECK(ON(exchange, SEALWAX_RESULT, 0, type, strlen(type), ABSENT, SLICE(brought)) == SEALWAX_OK);
  ask();
  if (answer[0] == SEALWAX_RESPOND || tells("\"step\":\"respond\"")) return true;
  CHECK(tells("no room"));
  full++;
  return false;
}

/* Two rounds, and the second one again. Returns false where the ledger is full. */
static bool two_rounds(unsigned user) {
  slice state = {token, 0};
  if (!begin(user, NOTHING, NOTHING, NOTHING)) return false;
  CHECK(ON(exchange, SEALWAX_SEAL_STATE, 0, TEXT("{\"page\":2}")) == SEALWAX_OK);
  const slice sealed = text_of(answer, 0);
  state.len = sealed.len;
  memcpy(state.data, sealed.data, sealed.len);
  CHECK(end("input_required", state));
  sealwax_machine_free(exchange);
  if (!begin(user, state, NOTHING, NOTHING)) return false;
  CHECK(end("complete", NOTHING));
  sealwax_machine_free(exchange);
  CHECK(!begin(user, state, NOTHING, NOTHING));
  return true;
}

/* A call in a session, which begins anew where it has ended. */
static void session(unsigned at) {
  char *const kept = metadata[at];
  if (metadata_len[at] == 0) {
    sealwax_view *view;
    const slice name = number("%lu", at);
    CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, SLICE(name), &view, NULL) == SEALWAX_OK);
    CHECK(sealwax_session_create(view, &IDLE, (const uint8_t *)"0", 1, kept, sizeof metadata[at],
                                 &metadata_len[at], NULL) == SEALWAX_OK);
    sealwax_view_free(view);
  }
  if (!begin(at, NOTHING, member(kept, metadata_len[at], "\"sessionId\""),
             member(kept, metadata_len[at], "\"state\""))) {
    metadata_len[at] = 0;
    return;
  }
  CHECK(ON(exchange, SEALWAX_WRITE, 0, TEXT("{\"count\":1}")) == SEALWAX_OK);
  if (end("complete", NOTHING)) {
    const slice step = text_of(answer, 0);
    CHECK(step.len < sizeof metadata[at]);
    memcpy(kept, step.data, step.len);
    metadata_len[at] = step.len;
  }
  sealwax_machine_free(exchange);
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
  CHECK(sealwax_codec_set_keys(codec, rotated, &changed, NULL) == SEALWAX_OK && changed);
  sealwax_ring_free(rotated);
}

static void sign_out(unsigned user) {
  const slice document = number("{\"subject\":\"%lu\"}", user);
  CHECK(NEW(guard, &exchange, SEALWAX_REVOCATION, 0, SLICE(document), TEXT("3600")) == SEALWAX_OK);
  ask();
  CHECK(tells("\"step\":\"done\""));
  sealwax_machine_free(exchange);
}

static size_t in_use(void) { return mallinfo2().uordblks; }

static void a_day(void) {
  const char *wanted = getenv("SEALWAX_EXCHANGES");
  const long count = wanted == NULL ? 4000 : atol(wanted);
  const uint64_t two_hours = 2 * HOUR;
  const sealwax_limits limits = {NULL, NULL, &two_hours};
  size_t early = 0, late = 0, peak = 0;
  CHECK(sealwax_test_clock_new(now * 1000, &clock_of_day, NULL) == SEALWAX_OK);
  sealwax_codec_free(codec);
  CHECK(sealwax_test_codec_new(ring, TEXT("a"), &limits, clock_of_day, &codec, NULL) == SEALWAX_OK);
  make_guard("{\"sessions\":{\"ttl\":1800},\"ledger\":{\"local\":true}}");
  const slice time = number("%lu", now);
  CHECK(NEW(NULL, &memory, SEALWAX_MEMORY, 0, TEXT("1048576"), SLICE(time)) == SEALWAX_OK);
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
  sealwax_machine_free(memory);
  sealwax_machine_free(guard);
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
