// A tool asks something back: what it knows so far goes to the client, sealed.
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
  must(sealwax_ring_from_env(&ring, &error));
  must(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, &error));
  must(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("alice"), &alice, &error));
  must(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("mallory"), &mallory, &error));

  uint8_t call[32], payload[64];
  char state[256];
  size_t state_len, len;
  must(sealwax_request_context(TEXT("tools/call"), TEXT("delete_note"), TEXT("{\"id\":7}"), &call,
                               &error));
  sealwax_purpose purpose = {SEALWAX_KIND_REQUEST_STATE, NULL, 0, NULL, 0, call, sizeof call};
  must(sealwax_seal(alice, &purpose, NULL, (const uint8_t *)TEXT("Delete note 7?"), state,
                    sizeof state, &state_len, &error));

  // The client retries the call with the answer and the state.
  must(sealwax_open(alice, &purpose, NULL, state, state_len, payload, sizeof payload, &len, NULL,
                    &error));
  printf("%.*s\n", (int)len, (char *)payload);

  // Nobody else can.
  sealwax_status refused = sealwax_open(mallory, &purpose, NULL, state, state_len, payload,
                                        sizeof payload, &len, NULL, &error);
  printf("%s\n", sealwax_code(refused));

  sealwax_view_free(mallory);
  sealwax_view_free(alice);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
}
