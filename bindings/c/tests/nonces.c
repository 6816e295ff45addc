/* No two nonces alike of threads that share a view; forks.c has what children draw. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, EACH = 10000, NONCE = 24 };

static sealwax_view *view;

/* Seals EACH tokens and keeps of each the characters that spell bytes 1 to 18 of its nonce. */
static void *seal_many(void *room) {
  const sealwax_purpose purpose = {SEALWAX_KIND_CURSOR, TEXT("tools/list"), NULL, 0, NULL, 0};
  for (int i = 0; i < EACH; i++) {
    char token[256];
    size_t len;
    CHECK(sealwax_seal(view, &purpose, NULL, NULL, 0, token, sizeof token, &len, NULL) ==
          SEALWAX_OK);
    memcpy((char *)room + i * NONCE, token + sizeof "sw1." - 1 + 8, NONCE);
  }
  return NULL;
}

static int compare(const void *a, const void *b) { return memcmp(a, b, NONCE); }

static void check_unique(char *nonces, size_t count) {
  qsort(nonces, count, NONCE, compare);
  for (size_t i = 1; i < count; i++)
    CHECK(memcmp(nonces + (i - 1) * NONCE, nonces + i * NONCE, NONCE) != 0);
}

static void check_threads(void) {
  static char nonces[THREADS * EACH * NONCE];
  pthread_t threads[THREADS];
  subject = "threads";
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, seal_many, nonces + i * EACH * NONCE) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  check_unique(nonces, (size_t)THREADS * EACH);
  printf("no nonce twice: %d threads, %d tokens each\n", THREADS, EACH);
}

int main(void) {
  sealwax_key *key;
  sealwax_ring *ring;
  sealwax_codec *codec;
  CHECK(sealwax_key_generate(&key, NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_new((const sealwax_key *const *)&key, 1, &ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new_anonymous(codec, &view, NULL) == SEALWAX_OK);
  check_threads();
  sealwax_view_free(view);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
  sealwax_key_free(key);
  return 0;
}
