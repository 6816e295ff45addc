/* Frames: what a machine is told, and what it answers; and what stands in a document. */
#ifndef FRAME_H
#define FRAME_H

#include <stdarg.h>

#include "check.h"

/* As texts of a frame: one that is absent, and the end of all. */
#define ABSENT (const char *)NULL, (size_t)0
#define FRAME_END (const char *)NULL, (size_t)2

typedef struct frame {
  size_t len;
  uint8_t bytes[16384];
} frame;

/* FRAME(to, kind, flags, texts): writes a frame. */
#define FRAME(to, ...) write_frame(to, __VA_ARGS__, FRAME_END)

/* Numbers are as this machine has them: all that the tests run on are little-endian. */
static inline void write_frame(frame *to, int kind, int flags, ...) {
  slice text;
  int32_t lens[11];
  uint8_t count = 0, texts[sizeof to->bytes];
  size_t size = 0;
  va_list rest;
  va_start(rest, flags);
  for (;; count++) {
    text.data = va_arg(rest, char *);
    text.len = va_arg(rest, size_t);
    if (text.data == NULL && text.len == 2) break;
    CHECK(count < 11 && text.len <= sizeof texts - 48 - size);
    lens[count] = text.data == NULL ? -1 - (int32_t)text.len : (int32_t)text.len;
    if (text.data == NULL) continue;
    memcpy(texts + size, text.data, text.len);
    size += text.len;
  }
  va_end(rest);
  const uint8_t head[] = {(uint8_t)kind, count, (uint8_t)flags, (uint8_t)(flags >> 8)};
  memcpy(to->bytes, head, 4);
  memcpy(to->bytes + 4, lens, 4 * (size_t)count);
  memcpy(to->bytes + 4 + 4 * count, texts, size);
  to->len = 4 + 4 * (size_t)count + size;
}

/* A text of an answer, by its number; absent where there is none. */
static inline slice text_of(const uint8_t *answer, int number) {
  slice text = {(char *)answer + 4 + 4 * answer[1], 0};
  for (int i = 0; i < answer[1]; i++) {
    int32_t len;
    memcpy(&len, answer + 4 + 4 * i, sizeof len);
    text.len = len < 0 ? 0 : (size_t)len;
    if (i == number && len >= 0) return text;
    text.data += text.len;
  }
  text.data = NULL;
  return text;
}

/* Whether a text that no NUL ends contains a part. */
static inline int has(const char *text, size_t len, const char *part) {
  const size_t part_len = strlen(part);
  for (size_t i = 0; i + part_len <= len; i++)
    if (memcmp(text + i, part, part_len) == 0) return 1;
  return 0;
}

/* The member of a document that is a text without escapes, by its name in quotes; or absent. */
static inline slice member(const char *document, size_t len, const char *name) {
  slice found = {NULL, 0};
  const size_t name_len = strlen(name);
  for (size_t at = 0; at + name_len + 2 < len && found.data == NULL; at++)
    if (memcmp(document + at, name, name_len) == 0 && document[at + name_len] == ':')
      found.data = (char *)document + at + name_len + 2;
  while (found.data != NULL && found.data[found.len] != '"') found.len++;
  return found;
}

#endif
