/* Keys are wiped: once everything is freed, the heap holds neither the secret nor the sealing key
   that is derived from it. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

/* Of the first key of the vectors, every bit inverted so that this program does not hold it. */
static const uint8_t TURNED_SECRET[32] = {
    0x6c, 0xe0, 0xa5, 0x61, 0x39, 0xdb, 0x5a, 0xad, 0xe3, 0x28, 0x29, 0x5b, 0x3c, 0x23, 0x2e, 0x25,
    0xad, 0x66, 0xa9, 0x8d, 0x33, 0x6c, 0xc6, 0x09, 0xe0, 0x7d, 0x95, 0x9f, 0x6a, 0xe0, 0x27, 0x03};
static const uint8_t TURNED_SEAL[32] = {
    0xa9, 0x49, 0x12, 0x8f, 0x74, 0x7f, 0xac, 0x72, 0xfd, 0x75, 0xaf, 0x54, 0x26, 0x20, 0xd8, 0xd5,
    0x7d, 0x84, 0xa3, 0x26, 0x04, 0x1b, 0xd5, 0x35, 0x02, 0xec, 0x5e, 0x0e, 0x25, 0x28, 0xe1, 0x84};

/* How often 32 bytes, inverted, occur in [from, to). */
static int count_in(const uint8_t *from, const uint8_t *to, const uint8_t *turned) {
  int count = 0;
  for (; from + 32 <= to; from++) {
    int i = 0;
    while (i < 32 && from[i] + turned[i] == 0xff) i++;
    count += i == 32;
  }
  return count;
}

/* How often they occur in memory that the allocator can hand out. */
static int count(const uint8_t *turned) {
  char line[512], mode[8], name[256];
  unsigned long from, to;
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    name[0] = '\0';
    CHECK(sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, mode, name) >= 3);
    if (strncmp(mode, "rw", 2) == 0 && (name[0] == '\0' || strcmp(name, "[heap]") == 0))
      found += count_in((const uint8_t *)from, (const uint8_t *)to, turned);
  }
  fclose(maps);
  return found;
}

int main(void) {
  uint8_t secret[32];
  sealwax_key *key;
  sealwax_ring *ring;
  sealwax_codec *codec;
  sealwax_view *view;
  char token[256], text[SEALWAX_KEY_TEXT_LEN];
  size_t len;
  const sealwax_purpose purpose = {SEALWAX_KIND_SESSION, NULL, 0, NULL, 0, NULL, 0};
  for (int i = 0; i < 32; i++) secret[i] = TURNED_SECRET[i] ^ 0xff;

  CHECK(sealwax_key_from_secret(secret, sizeof secret, &key, NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_new((const sealwax_key *const *)&key, 1, &ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new_anonymous(codec, &view, NULL) == SEALWAX_OK);
  CHECK(sealwax_key_to_text(key, text, sizeof text, &len, NULL) == SEALWAX_OK);
  CHECK(sealwax_seal(view, &purpose, NULL, NULL, 0, token, sizeof token, &len, NULL) == SEALWAX_OK);
  CHECK(count(TURNED_SECRET) == 1 && count(TURNED_SEAL) == 1);

  sealwax_key_free(key);
  sealwax_ring_free(ring);
  sealwax_codec_free(codec);
  CHECK(count(TURNED_SECRET) == 1 && count(TURNED_SEAL) == 1);
  sealwax_view_free(view);
  CHECK(count(TURNED_SECRET) == 0 && count(TURNED_SEAL) == 0);
  printf("keys are wiped\n");
  return 0;
}
