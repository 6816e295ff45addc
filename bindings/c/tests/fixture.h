/* A ring, a codec, alice's view and a token for each test, and the loop that runs the tests. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "check.h"
#include "environment.h"

#define RING TEXT("swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc")
#define PAYLOAD ((const uint8_t *)"hello"), 5

static sealwax_ring *ring;
static sealwax_codec *codec;
static sealwax_view *alice;
static sealwax_error error;
static char token[8192];
static size_t token_len;

static const sealwax_purpose SESSION = {SEALWAX_KIND_SESSION, NULL, 0, NULL, 0, NULL, 0};

static void set_up(void) {
  CHECK(sealwax_ring_parse(RING, &ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("alice"), &alice, NULL) == SEALWAX_OK);
  CHECK(sealwax_seal(alice, &SESSION, NULL, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_OK);
}

static void tear_down(void) {
  sealwax_view_free(alice);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
}

typedef struct test {
  const char *name;
  void (*run)(void);
} test;

#define TEST(name) {#name, name}
#define RUN(tests, of) run(tests, sizeof(tests) / sizeof *(tests), of)

/* Runs tests, each with a fixture of its own. */
static inline int run(const test *tests, size_t count, const char *of) {
  for (size_t i = 0; i < count; i++) {
    subject = tests[i].name;
    environment_reset();
    set_up();
    tests[i].run();
    tear_down();
  }
  printf("%d tests of %s\n", (int)count, of);
  return 0;
}

#endif
