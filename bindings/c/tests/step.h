/* The current step of an exchange. */
#ifndef STEP_H
#define STEP_H

#include "fixture.h"

static sealwax_guard *guard;
static sealwax_exchange *exchange;
static const char *step;
static size_t step_len;

#define STEP &step, &step_len, &error

/* Whether a text that no NUL ends contains a part. */
static int has(const char *text, size_t len, const char *part) {
  const size_t part_len = strlen(part);
  for (size_t i = 0; i + part_len <= len; i++)
    if (memcmp(text + i, part, part_len) == 0) return 1;
  return 0;
}

static int tells(const char *part) { return has(step, step_len, part); }

#endif
