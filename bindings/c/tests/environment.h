/* The system's clock and randomness, put in front of the C library's (environment.c) or of Windows'
   (environment_windows.c), so that the library under test is the one that ships: it knows of no
   clock but the system's. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stops the clock at a time in Unix milliseconds. */
void environment_stop_clock(uint64_t now_ms);
/* From now on randomness is these bytes, at most 32, from their start with each call, where the
   clock is stopped. */
void environment_set_random(const uint8_t *random, size_t len);
/* Makes the system's randomness fail. */
void environment_deny_random(void);
/* Restores the system's clock and randomness. */
void environment_reset(void);

#ifdef __cplusplus
}
#endif

#endif
