/* Faults of a caller that only an instrumented library shows: `canary too_short` gives it a struct
   that is too small, `forgotten` never frees a view, and `race` has one place for the results of
   two threads. Each must end with the sanitizer's report. */
#include <pthread.h>

#include "fixture.h"

static uint8_t id[4];
static sealwax_key *key;

static void *write_id(void *unused) {
  (void)unused;
  for (int i = 0; i < 1000; i++) sealwax_key_id(key, &id, NULL);
  return NULL;
}

static void race(void) {
  pthread_t other;
  CHECK(sealwax_key_generate(&key, NULL) == SEALWAX_OK);
  CHECK(pthread_create(&other, NULL, write_id, NULL) == 0);
  write_id(NULL);
  CHECK(pthread_join(other, NULL) == 0);
  sealwax_key_free(key);
}

static void too_short(void) {
  sealwax_purpose *purpose = (sealwax_purpose *)malloc(sizeof purpose->kind);
  CHECK(purpose != NULL);
  purpose->kind = SEALWAX_KIND_SESSION;
  sealwax_seal(alice, purpose, NULL, PAYLOAD, token, sizeof token, &token_len, NULL);
  free(purpose);
}

static void forgotten(void) {
  sealwax_view *view;
  CHECK(sealwax_view_new_anonymous(codec, &view, NULL) == SEALWAX_OK);
}

int main(int count, char **arguments) {
  const test tests[] = {TEST(too_short), TEST(forgotten), TEST(race)};
  for (size_t i = 0; count == 2 && i < sizeof tests / sizeof *tests; i++)
    if (strcmp(arguments[1], tests[i].name) == 0) return run(&tests[i], 1, "faults, unseen");
  return 2;
}
