/* Stands in front of the C library's clocks: a process started with it is as many seconds ahead as the file that LEDGER_CLOCK
   names says, and jumps when that changes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t ahead(void) {
  static volatile const int64_t *seconds;
  if (!seconds) {
    const char *path = getenv("LEDGER_CLOCK");
    const int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) abort();
    seconds = mmap(NULL, sizeof *seconds, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (seconds == MAP_FAILED) abort();
  }
  return *seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  const int failed = (int)syscall(SYS_gettimeofday, now, zone);
  if (!failed && now) now->tv_sec += ahead();
  return failed;
}

time_t time(time_t *told) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (told) *told = now.tv_sec;
  return now.tv_sec;
}
