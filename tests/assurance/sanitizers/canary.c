/* Faults of a caller that only an instrumented library shows: `canary too_short` gives it a struct
   that is too small, `forgotten` never frees a view, and `race` has one place for the results of
   two threads. Each must end with the sanitizer's report. */
#include <pthread.h>

#include "check.h"

static uint8_t id[4];
static sealwax_key *key;
static sealwax_codec *codec;
static sealwax_view *view;

static void *write_id(void *unused) {
  (void)unused;
  for (int i = 0; i < 1000; i++) sealwax_key_id(key, &id, NULL);
  return NULL;
}

static void race(void) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, write_id, NULL) == 0);
  write_id(NULL);
  CHECK(pthread_join(other, NULL) == 0);
}

static void too_short(void) {
  char token[256];
  size_t len;
  sealwax_purpose *purpose = (sealwax_purpose *)malloc(sizeof purpose->kind);
  CHECK(purpose != NULL);
  purpose->kind = SEALWAX_KIND_SESSION;
  sealwax_seal(view, purpose, NULL, NULL, 0, token, sizeof token, &len, NULL);
  free(purpose);
}

static void forgotten(void) {
  sealwax_view *lost;
  CHECK(sealwax_view_new_anonymous(codec, &lost, NULL) == SEALWAX_OK);
}

int main(int count, char **arguments) {
  const char *const names[] = {"too_short", "forgotten", "race"};
  void (*const faults[])(void) = {too_short, forgotten, race};
  sealwax_ring *ring;
  CHECK(sealwax_key_generate(&key, NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_new((const sealwax_key *const *)&key, 1, &ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new_anonymous(codec, &view, NULL) == SEALWAX_OK);
  for (size_t i = 0; count == 2 && i < sizeof names / sizeof *names; i++)
    if (strcmp(arguments[1], names[i]) == 0) faults[i]();
  sealwax_view_free(view);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
  sealwax_key_free(key);
  return 2;
}
