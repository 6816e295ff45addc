#define _GNU_SOURCE
#include "environment.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static uint64_t stopped_ms;
static int stopped;
static uint8_t given[32];
static size_t given_len;
static int denied;

void environment_stop_clock(uint64_t now_ms) {
  stopped_ms = now_ms;
  stopped = 1;
}

void environment_set_random(const uint8_t *random, size_t len) {
  given_len = len;
  memcpy(given, random, len);
}

void environment_deny_random(void) { denied = 1; }

void environment_reset(void) { stopped = denied = (int)(given_len = 0); }

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (clock != CLOCK_REALTIME || !stopped) return (int)syscall(SYS_clock_gettime, clock, time);
  time->tv_sec = (time_t)(stopped_ms / 1000);
  time->tv_nsec = (long)(stopped_ms % 1000 * 1000000);
  return 0;
}

ssize_t getrandom(void *buffer, size_t len, unsigned flags) {
  /* An empty request asks whether there is a generator at all. */
  if (len == 0 || (given_len == 0 && !denied)) return syscall(SYS_getrandom, buffer, len, flags);
  if (denied || len != given_len) {
    errno = EIO;
    return -1;
  }
  memcpy(buffer, given, len);
  /* The library mixes the time into what it draws: this takes it out again. */
  uint64_t time = stopped ? stopped_ms * 1000000 : 0;
  for (size_t i = 0; i < len && i < sizeof time; i++)
    ((uint8_t *)buffer)[i] ^= (uint8_t)(time >> 8 * i);
  return (ssize_t)len;
}
