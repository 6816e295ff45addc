// A replica in C: `open` the session whose metadata is on stdin.
#include <sealwax.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) literal, sizeof(literal) - 1

static sealwax_error error;

static void must(sealwax_status status) {
  if (status == SEALWAX_OK) return;
  fprintf(stderr, "%s: %s\n", sealwax_code(status), error.message);
  char answer[SEALWAX_ANSWER_MAX];
  size_t len;
  if (sealwax_answer(TEXT("data-layer"), status, NULL, 0, answer, sizeof answer, &len, NULL) ==
      SEALWAX_OK) {
    printf("%.*s\n", (int)len, answer);
  }
  exit(1);
}

int main(void) {
  const char *user = getenv("DEMO_USER");
  if (user == NULL) return 2;
  sealwax_ring *ring;
  sealwax_codec *codec;
  sealwax_view *view;
  must(sealwax_ring_from_env(&ring, &error));
  must(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, &error));
  must(sealwax_view_new(codec, NULL, 0, NULL, 0, user, strlen(user), &view, &error));

  char metadata[8192], payload[4096];
  size_t metadata_len = fread(metadata, 1, sizeof metadata, stdin), len;
  sealwax_session *session;
  sealwax_opened opened;
  must(sealwax_session_open(view, metadata, metadata_len, &session, &error));
  must(sealwax_session_payload(session, (uint8_t *)payload, sizeof payload, &len, &opened, &error));
  fprintf(stderr, "%.*s (generation %u, needs_reseal %s)\n", (int)len, payload,
          (unsigned)opened.generation, opened.needs_reseal ? "true" : "false");

  sealwax_session_free(session);
  sealwax_view_free(view);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
}
