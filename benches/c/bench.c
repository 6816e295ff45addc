// What the work of a request takes; tokens a second, sealed and opened, of one codec shared by one
// thread and by two; and what stays in memory of many.

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sealwax.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT(literal) literal, sizeof literal - 1

static const sealwax_view *view;
static sealwax_purpose purpose = {SEALWAX_KIND_REQUEST_STATE, NULL, 0, NULL, 0, NULL, 32};
// Short turns, of which some find the machine idle.
static const double SECONDS = 0.05;

static void must(sealwax_status status) {
  if (status != SEALWAX_OK) {
    fprintf(stderr, "%s\n", sealwax_code(status));
    exit(1);
  }
}

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(void) { return seconds_of(CLOCK_MONOTONIC); }

// What this process has worked: whatever else runs is not in it.
static double worked(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

static void seal_and_open(long count) {
  // Of each thread its own.
  uint8_t held[256];
  memset(held, 'x', sizeof held);
  char sealed[1024];
  size_t sealed_len, len;
  while (count-- > 0) {
    must(sealwax_seal(view, &purpose, NULL, held, sizeof held, sealed, sizeof sealed, &sealed_len,
                      NULL));
    must(sealwax_open(view, &purpose, NULL, sealed, sealed_len, held, sizeof held, &len, NULL,
                      NULL));
  }
}

// As a model writes them, in the order of the tool's schema.
static const char arguments[] =
    "{\"path\":\"projects/sealwax/meeting-notes.md\",\"title\":\"Meeting of Tuesday\","
    "\"content\":\"Decide on the release; ask Alice for the "
    "figures.\",\"tags\":[\"work\",\"release\"],"
    "\"pinned\":true,\"revision\":41,\"reason\":\"the user asked for it\"}";
// As they are to be hashed, in the order of their names.
static const char sorted[] =
    "{\"content\":\"Decide on the release; ask Alice for the figures.\","
    "\"path\":\"projects/sealwax/meeting-notes.md\",\"pinned\":true,\"reason\":\"the user asked "
    "for it\","
    "\"revision\":41,\"tags\":[\"work\",\"release\"],\"title\":\"Meeting of Tuesday\"}";

static sealwax_codec *one_key, *three_keys;
static size_t size, token_len;
static uint8_t payload[4096];
static char token[8192];

static sealwax_view *view_of(const sealwax_codec *codec) {
  sealwax_view *found;
  must(sealwax_view_new(codec, TEXT("https://idp.example.com"), TEXT("cli-7"), TEXT("alice"),
                        &found, NULL));
  return found;
}

static void context_of(const char *text, size_t text_len, uint8_t (*context)[32]) {
  must(sealwax_request_context(TEXT("tools/call"), TEXT("save_note"), text, text_len, context,
                               NULL));
}

static void seal_with(const sealwax_view *by, const sealwax_purpose *bound) {
  must(sealwax_seal(by, bound, NULL, payload, size, token, sizeof token, &token_len, NULL));
}

static void open_with(const sealwax_view *by, const sealwax_purpose *bound) {
  uint8_t opened[4096];
  size_t len;
  must(sealwax_open(by, bound, NULL, token, token_len, opened, sizeof opened, &len, NULL, NULL));
}

static void seal_alone(void) { seal_with(view, &purpose); }
static void open_alone(void) { open_with(view, &purpose); }

// From the principal and the arguments on.
static void of_request(void (*it)(const sealwax_view *, const sealwax_purpose *)) {
  sealwax_view *by = view_of(one_key);
  uint8_t context[32];
  context_of(TEXT(arguments), &context);
  sealwax_purpose bound = purpose;
  bound.context = context;
  it(by, &bound);
  sealwax_view_free(by);
}

static void seal_of_request(void) { of_request(seal_with); }
static void open_of_request(void) { of_request(open_with); }

static void context_sorted(void) {
  uint8_t context[32];
  context_of(TEXT(sorted), &context);
}

static void context_unsorted(void) {
  uint8_t context[32];
  context_of(TEXT(arguments), &context);
}

static void view_one(void) { sealwax_view_free(view_of(one_key)); }
static void view_three(void) { sealwax_view_free(view_of(three_keys)); }

static int ascending(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

// The medians of nanoseconds for one call of each, by turns.
static void duel(void (*const sides[2])(void), int turns, double medians[2]) {
  enum { CALLS = 200, MOST = 501 };
  static double times[2][MOST];
  for (int turn = -1; turn < turns; turn++) {
    for (int place = 0; place < 2; place++) {
      int side = (turn + place) & 1;
      double start = worked();
      for (int call = 0; call < CALLS; call++) sides[side]();
      // The first one is for warmth.
      if (turn >= 0) times[side][turn] = (worked() - start) * 1e9 / CALLS;
    }
  }
  for (int side = 0; side < 2; side++) {
    qsort(times[side], (size_t)turns, sizeof(double), ascending);
    medians[side] = times[side][turns / 2];
  }
}

static void requests(int turns) {
  static const size_t sizes[] = {64, 256, 1024, 4096};
  static const struct {
    const char *op;
    void (*const sides[2])(void);
  } rows[] = {{"request-seal", {seal_of_request, seal_alone}},
              {"request-open", {open_of_request, open_alone}}};
  double found[2], views[2];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size = sizes[i];
    seal_alone();
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
      duel(rows[row].sides, turns, found);
      printf(
          "{\"language\":\"c\",\"size\":%zu,\"op\":\"%s\",\"ours_ns\":%f,\"peer\":\"token-alone\","
          "\"peer_ns\":%f,\"ratio\":%.12f,\"ours_length\":%zu,\"peer_length\":%zu}\n",
          size, rows[row].op, found[0], found[1], found[1] / found[0], token_len, token_len);
    }
  }
  duel((void (*const[2])(void)){context_sorted, context_unsorted}, turns, found);
  duel((void (*const[2])(void)){view_one, view_three}, turns, views);
  printf(
      "{\"language\":\"c\",\"parts\":{\"context\":%f,\"context-unsorted\":%f,\"view\":%f,"
      "\"view-3-keys\":%f}}\n",
      found[0], found[1], views[0], views[1]);
}

static void *work(void *made) {
  double until = now() + SECONDS;
  long count = 0;
  for (; now() < until; count += 100) seal_and_open(100);
  *(long *)made = count;
  return NULL;
}

static double throughput(int count) {
  pthread_t threads[2];
  long made[2] = {0, 0};
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, work, &made[i]);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return (double)(made[0] + made[1]) / SECONDS;
}

// Resident bytes; 0 where the system does not tell.
static long resident(void) {
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm == NULL) return 0;
  if (fscanf(statm, "%*s %ld", &pages) != 1) pages = 0;
  fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv) {
  int quick = argc > 1 && strcmp(argv[1], "quick") == 0;
  int turns = quick ? 10 : 60;
  sealwax_key *keys[3];
  for (int i = 0; i < 3; i++) must(sealwax_key_generate(&keys[i], NULL));
  sealwax_ring *one, *three;
  must(sealwax_ring_new((const sealwax_key *const *)keys, 1, &one, NULL));
  must(sealwax_ring_new((const sealwax_key *const *)keys, 3, &three, NULL));
  must(sealwax_codec_new(one, TEXT("https://mcp.example.com"), NULL, &one_key, NULL));
  must(sealwax_codec_new(three, TEXT("https://mcp.example.com"), NULL, &three_keys, NULL));
  sealwax_view *alice = view_of(one_key);
  uint8_t call[32];
  context_of(TEXT(arguments), &call);
  view = alice;
  purpose.context = call;

  requests(quick ? 51 : 501);

  // By turns, so that whatever the machine does hits both; of each the best.
  double best[3] = {0, 0, 0};
  for (int turn = 0; turn < turns; turn++) {
    for (int count = 1; count <= 2; count++) {
      double found = throughput(count);
      if (found > best[count]) best[count] = found;
    }
  }
  printf("{\"language\":\"c\",\"threads\":{\"1\":%.0f,\"2\":%.0f,\"ratio\":%.2f}}\n", best[1],
         best[2], best[2] / best[1]);

  long tokens = quick ? 100000 : 10000000;
  seal_and_open(1000);
  long before = resident();
  seal_and_open(tokens);
  printf("{\"language\":\"c\",\"memory\":{\"tokens\":%ld,\"before\":%ld,\"after\":%ld}}\n", tokens,
         before, resident());
  sealwax_view_free(alice);
  sealwax_codec_free(one_key);
  sealwax_codec_free(three_keys);
  sealwax_ring_free(one);
  sealwax_ring_free(three);
  for (int i = 0; i < 3; i++) sealwax_key_free(keys[i]);
}
