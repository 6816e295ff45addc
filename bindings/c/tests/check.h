/* A check that says where it failed; bytes and text as a pointer and a size, and their hex. */
#ifndef CHECK_H
#define CHECK_H

#include <sealwax.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A literal as a pointer and a size. */
#define TEXT(literal) literal, sizeof(literal) - 1
#define SLICE(slice) (slice).data, (slice).len

/* Bytes or UTF-8; absent where data is NULL. */
typedef struct slice {
  char *data;
  size_t len;
} slice;

static inline const uint8_t *bytes(slice s) { return (const uint8_t *)s.data; }

/* The same slice, absent where it is empty. */
static inline slice present(slice s) {
  if (s.len == 0) s.data = NULL;
  return s;
}

static inline int is(slice s, const char *text) {
  return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

static inline int same(slice s, const void *data, size_t len) {
  return s.len == len && (len == 0 || memcmp(s.data, data, len) == 0);
}

static inline unsigned nibble(char digit) {
  return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* Decodes lower-case hex in place. */
static inline slice unhex(slice hex) {
  for (size_t i = 0; i < hex.len / 2; i++)
    hex.data[i] = (char)(nibble(hex.data[2 * i]) << 4 | nibble(hex.data[2 * i + 1]));
  hex.len /= 2;
  return hex;
}

/* The kind of this name, or 0. */
static inline int32_t kind_of(slice name) {
  for (int32_t kind = 0; kind <= SEALWAX_KIND_CUSTOM; kind++) {
    const char *known = sealwax_kind_name(kind);
    if (known != NULL && is(name, known)) return kind;
  }
  return 0;
}

/* The current test, for the message. */
static const char *subject = "";

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, subject, #condition); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

#endif
