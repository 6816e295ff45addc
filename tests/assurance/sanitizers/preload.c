/* What Rust's compiler calls in its runtime for threads, for the one of the C compiler, which knows
   them by their own names: only that one can be preloaded. */
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t len) { return memcpy(to, from, len); }
void *__tsan_memmove(void *to, const void *from, size_t len) { return memmove(to, from, len); }
void *__tsan_memset(void *to, int byte, size_t len) { return memset(to, byte, len); }
