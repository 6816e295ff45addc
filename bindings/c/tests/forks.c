/* fork() at any time, while threads are in every function and one changes the keys: in the child
   and in the parent each call ends, and no nonce is drawn twice. A child must not use a ledger in
   memory that another thread was in: it is that thread's (sealwax.h). */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum { THREADS = 2, FORKS = 40, SECONDS = 120, NONCE = 12 };

/* What a child tells its parent. */
typedef struct told {
  int at;
  outputs of[COUNT];
} told;

static atomic_bool is_over;

static void *call_all(void *unused) {
  (void)unused;
  outputs *to = (outputs *)malloc(sizeof *to);
  CHECK(to != NULL);
  while (!atomic_load(&is_over)) {
    own mine;
    make_own(&mine);
    for (int i = 0; i < COUNT; i++) {
      MADE(calls[i].make(&mine, to));
      calls[i].free(to);
    }
    free_own(&mine);
  }
  free(to);
  return NULL;
}

static void *change_keys(void *unused) {
  (void)unused;
  sealwax_ring *one;
  MADE(sealwax_ring_parse(TEXT(KEY_TEXT), &one, NULL));
  while (!atomic_load(&is_over)) {
    MADE(sealwax_codec_set_keys(all.codec, one, NULL, NULL));
    MADE(sealwax_codec_set_keys(all.codec, all.ring, NULL, NULL));
  }
  sealwax_ring_free(one);
  return NULL;
}

static void run_all(told *to) {
  own mine;
  to->at = COUNT;
  make_own(&mine);
  for (to->at = 0; to->at < COUNT; to->at++) {
    outputs *of = &to->of[to->at];
    MADE(calls[to->at].make(&mine, of));
    /* What a machine of a child answered is in the child's memory alone. */
    if (of->answer_len > 0 && of->answer_len < sizeof of->out) {
      memcpy(of->out, of->answer, of->answer_len);
      of->len = of->answer_len;
    }
  }
  free_own(&mine);
}

static const char *find(const outputs *in, const char *start) {
  for (size_t at = 0; at + 60 < in->len; at++)
    if (memcmp(in->out + at, start, strlen(start)) == 0) return in->out + at;
  return NULL;
}

/* The random part of what a call made: of a token, or else of a session id or a handle; NULL if
 * there is none. */
static const char *nonce(const call *made, const outputs *to) {
  const char *token = find(to, "sw1.");
  if (token != NULL) return token + 12;
  if (strstr(made->name, "mint_session_id") != NULL) return to->out + 20;
  const char *id = strcmp(made->name, "session_mint") == 0 ? find(to, "sess_") : NULL;
  if (id != NULL) return id + 20;
  return strstr(made->name, "t_handle") != NULL || strcmp(made->name, "new_handle") == 0
             ? to->out + 14
             : NULL;
}

int main(void) {
  static told parent, empty;
  pthread_t threads[THREADS + 1];
  /* SEALWAX_FORKS=10000 takes some minutes. */
  const char *wanted = getenv("SEALWAX_FORKS");
  const int forks = wanted == NULL ? FORKS : atoi(wanted);
  int drawn = 0;
  told *child =
      (told *)mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(child != MAP_FAILED);
  subject = "forks";
  make_all();
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, call_all, NULL) == 0);
  CHECK(pthread_create(&threads[THREADS], NULL, change_keys, NULL) == 0);
  fflush(stdout);
  for (int i = 0; i < forks; i++) {
    int outcome;
    *child = parent = empty;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      /* Not a limit for a slow machine: only a call that never ends takes so long. */
      alarm(SECONDS);
      run_all(child);
      _exit(0);
    }
    run_all(&parent);
    CHECK(waitpid(pid, &outcome, 0) == pid);
    if (outcome != 0)
      fprintf(stderr, "fork %d: %#x in %s\n", i, (unsigned)outcome,
              child->at < COUNT ? calls[child->at].name : "what is made for them");
    CHECK(outcome == 0);
    for (int at = 0; at < COUNT; at++) {
      const char *first = nonce(&calls[at], &child->of[at]);
      const char *second = nonce(&calls[at], &parent.of[at]);
      subject = calls[at].name;
      CHECK((first == NULL) == (second == NULL));
      if (first == NULL) continue;
      CHECK(memcmp(first, second, NONCE) != 0);
      drawn++;
    }
  }
  atomic_store(&is_over, true);
  for (int i = 0; i <= THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  free_all();
  munmap(child, sizeof *child);
  printf("%d forks amid %d threads: %d functions each, no nonce of %d twice\n", forks, THREADS + 1,
         (int)COUNT, 2 * drawn);
  return 0;
}
