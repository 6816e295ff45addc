// Seals a cursor for alice, and refuses it from mallory.
#include <sealwax.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT(literal) literal, sizeof(literal) - 1

static sealwax_error error;

static void must(sealwax_status status) {
  if (status == SEALWAX_OK) return;
  fprintf(stderr, "%s: %s\n", sealwax_code(status), error.message);
  exit(1);
}

int main(void) {
  sealwax_ring *ring;
  sealwax_codec *codec;
  sealwax_view *alice, *mallory;
  must(sealwax_ring_from_env(&ring, &error));  // SEALWAX_KEYS, from `sealwax keygen`
  must(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, &error));
  must(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("alice"), &alice, &error));
  must(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("mallory"), &mallory, &error));

  sealwax_purpose cursor = {.kind = SEALWAX_KIND_CURSOR, .label = "tools/list", .label_len = 10};
  char token[256], payload[256];
  size_t token_len, len;
  must(sealwax_seal(alice, &cursor, NULL, (const uint8_t *)TEXT("page 2"), token, sizeof token,
                    &token_len, &error));
  must(sealwax_open(alice, &cursor, NULL, token, token_len, (uint8_t *)payload, sizeof payload,
                    &len, NULL, &error));
  printf("alice: %.*s\n", (int)len, payload);
  sealwax_status refused = sealwax_open(mallory, &cursor, NULL, token, token_len,
                                        (uint8_t *)payload, sizeof payload, &len, NULL, &error);
  printf("mallory: %s: %s\n", sealwax_code(refused), error.message);

  sealwax_view_free(mallory);
  sealwax_view_free(alice);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
}
