/* No memory: at the n-th allocation of each function, for every n until it needs no more. Rust has
   no way back from there, so the process aborts; nothing else may happen. It must not have written
   anything by then, for a child of fork() may share memory with its parent, and it must say why. A
   call that needs no memory, such as what frees an object, goes on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

#ifdef __GLIBC__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

/* How many allocations are left before none succeeds any more; negative: all succeed. */
static long left = -1;
static long asked;

static bool is_denied(void) {
  asked++;
  if (left < 0 || left-- > 0) return false;
  left = 0;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size) { return is_denied() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_denied() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return is_denied() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t align, size_t size) {
  return is_denied() ? NULL : __libc_memalign(align, size);
}
int posix_memalign(void **place, size_t align, size_t size) {
  if (is_denied()) return ENOMEM;
  *place = __libc_memalign(align, size);
  return *place == NULL ? ENOMEM : 0;
}

enum { UNTOUCHED = 0xa5, DONE = 42, WAIT = 60 };

static own mine;

/* In a child: ends with DONE if the call ran through without a further allocation. */
static void run(const call *tried, outputs *to, long allowed) {
  left = allowed;
  const sealwax_status status = tried->make(&mine, to);
  if (status != SEALWAX_OK) _exit(status);
  /* What takes memory does so before it returns. */
  left = 0;
  tried->free(to);
  left = -1;
  _exit(DONE);
}

static bool is_untouched(const outputs *to) {
  const uint8_t *bytes = (const uint8_t *)to;
  for (size_t i = 0; i < sizeof *to; i++)
    if (bytes[i] != UNTOUCHED) return false;
  return true;
}

/* Returns after how many aborts the call ran through. */
static long aborts_of(const call *tried, outputs *to) {
  char said[256];
  for (long allowed = 0;; allowed++) {
    int ends[2], outcome;
    CHECK(allowed < 10000 && pipe(ends) == 0);
    memset(to, UNTOUCHED, sizeof *to);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      dup2(ends[1], STDERR_FILENO);
      alarm(WAIT);
      run(tried, to, allowed);
    }
    close(ends[1]);
    const ssize_t len = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    said[len < 0 ? 0 : len] = '\0';
    CHECK(waitpid(child, &outcome, 0) == child);
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == DONE) return allowed;
    if (!WIFSIGNALED(outcome) || WTERMSIG(outcome) != SIGABRT)
      fprintf(stderr, "outcome %#x after %ld allocations: %s\n", (unsigned)outcome, allowed, said);
    CHECK(WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGABRT);
    CHECK(strstr(said, "memory allocation of") != NULL);
    CHECK(is_untouched(to));
  }
}

int main(void) {
  const struct rlimit no_core = {0, 0};
  CHECK(setrlimit(RLIMIT_CORE, &no_core) == 0);
  long aborts = 0;
  outputs *to =
      (outputs *)mmap(NULL, sizeof *to, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(to != MAP_FAILED);
  make_all();
  make_own(&mine);
  fflush(stdout);
  CHECK(asked > 0);
  for (int i = 0; i < COUNT; i++) {
    subject = calls[i].name;
    const long found = aborts_of(&calls[i], to);
    if (getenv("SEALWAX_TELL") != NULL) printf("%s: %ld\n", subject, found);
    aborts += found;
  }
  free_own(&mine);
  free_all();
  munmap(to, sizeof *to);
  printf("no memory: %d functions, %ld allocations that fail, each aborts or is not needed\n",
         (int)COUNT, aborts);
  return 0;
}
#else
int main(void) {
  printf("LEFT OUT for want of glibc: no memory\n");
  return 0;
}
#endif
