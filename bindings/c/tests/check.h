/* A check that says where it failed. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "slice.h"

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
