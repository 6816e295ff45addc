/* Machines, and the latest answer of one. */
#ifndef STEP_H
#define STEP_H

#include "fixture.h"
#include "frame.h"

static sealwax_machine *guard, *exchange;
static const uint8_t *answer;
static size_t answer_len;
static frame given;

#define ANSWER &answer, &answer_len, &error
#define GIVEN given.bytes, given.len

/* NEW(parent, machine, frame), ON(machine, frame): a call with a frame of the rest. */
#define NEW(parent, machine, ...) \
  (FRAME(&given, __VA_ARGS__), sealwax_machine_new(codec, parent, GIVEN, machine, ANSWER))
#define ON(machine, ...) (FRAME(&given, __VA_ARGS__), sealwax_machine_on(machine, GIVEN, ANSWER))

/* A call of a tool: of somebody who is not known, and of alice. */
#define CALL SEALWAX_MESSAGE, SEALWAX_FLAG_MODERN, TEXT("tools/call"), TEXT("t"), TEXT("{\"id\":7}")
#define CALL_BY_ALICE(flags, token, id, state)                                              \
  SEALWAX_MESSAGE, SEALWAX_FLAG_MODERN | SEALWAX_FLAG_CALLER | (flags), TEXT("tools/call"), \
      TEXT("t"), TEXT("{\"id\":7}"), token, ABSENT, ABSENT, TEXT("alice"), ABSENT, id, state

static inline int tells(const char *part) { return has((const char *)answer, answer_len, part); }

/* Whether the answer is of this kind, with this text. */
static inline int told(int kind, const char *text) {
  return answer[0] == kind && is(text_of(answer, 0), text);
}

static inline int has_no_text(int kind) {
  return answer[0] == kind && text_of(answer, 0).data == NULL;
}

static inline int has_token(int kind) {
  return answer[0] == kind && starts(text_of(answer, 0), "sw1.");
}

static inline void make_guard(const char *settings) {
  CHECK(NEW(NULL, &guard, SEALWAX_GUARD, 0, settings, strlen(settings)) == SEALWAX_OK);
  CHECK(has_no_text(SEALWAX_MADE));
}

#endif
