/* The rules at the top of sealwax.h: outputs, sizes, absence, messages, lifetimes of objects. */
#include "fixture.h"

static sealwax_status open_token(const sealwax_view *view, sealwax_opened *opened) {
  uint8_t payload[8192];
  size_t len;
  return sealwax_open(view, &SESSION, NULL, token, token_len, payload, sizeof payload, &len, opened,
                      &error);
}

static void versions(void) {
  CHECK(sealwax_abi_version() == SEALWAX_ABI_VERSION);
  CHECK(strchr(sealwax_version(), '.') != NULL);
}

static void freeing_null_is_fine(void) {
  sealwax_key_free(NULL);
  sealwax_ring_free(NULL);
  sealwax_codec_free(NULL);
  sealwax_test_clock_free(NULL);
  sealwax_view_free(NULL);
  sealwax_session_free(NULL);
  sealwax_machine_free(NULL);
}

static void views_outlive_their_codec(void) {
  sealwax_ring *own_ring;
  sealwax_codec *own;
  sealwax_view *view;
  CHECK(sealwax_ring_parse(RING, &own_ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(own_ring, TEXT("https://mcp.example.com"), NULL, &own, NULL) ==
        SEALWAX_OK);
  sealwax_ring_free(own_ring);
  CHECK(sealwax_view_new(own, NULL, 0, NULL, 0, TEXT("alice"), &view, NULL) == SEALWAX_OK);
  sealwax_codec_free(own);
  CHECK(open_token(view, NULL) == SEALWAX_OK);
  sealwax_view_free(view);
}

static void null_is_refused_where_it_must_not_be(void) {
  char out[8192];
  size_t len;
  CHECK(sealwax_ring_parse(NULL, 3, &ring, &error) == SEALWAX_NULL_POINTER);
  CHECK(strcmp(error.message, "text: expected a pointer, found NULL") == 0);
  CHECK(sealwax_ring_parse(RING, NULL, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_seal(NULL, &SESSION, NULL, PAYLOAD, out, sizeof out, &len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(strcmp(error.message, "view: expected a pointer, found NULL") == 0);
  CHECK(sealwax_seal(alice, NULL, NULL, PAYLOAD, out, sizeof out, &len, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_seal(alice, &SESSION, NULL, NULL, 5, out, sizeof out, &len, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_seal(alice, &SESSION, NULL, PAYLOAD, NULL, 1, &len, NULL) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_seal(alice, &SESSION, NULL, PAYLOAD, out, sizeof out, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_seal(alice, &SESSION, NULL, (const uint8_t *)"x", SIZE_MAX, out, sizeof out, &len,
                     NULL) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_token_limit(NULL) == 0 && sealwax_metadata_limit(NULL) == 0);
}

static void a_small_buffer_is_told_the_size_and_left_alone(void) {
  uint8_t payload[5] = {7, 7, 7, 7, 7};
  sealwax_opened opened;
  memset(&opened, 7, sizeof opened);
  size_t len = 0;
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, NULL, 0, &len, &opened, NULL) ==
        SEALWAX_BUFFER_TOO_SMALL);
  CHECK(len == 5);
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, 4, &len, &opened, &error) ==
        SEALWAX_BUFFER_TOO_SMALL);
  CHECK(strcmp(error.message, "expected a buffer of 5 bytes, found 4") == 0);
  CHECK(memcmp(payload, "\7\7\7\7\7", 5) == 0 && opened.generation == 0x07070707);
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, 5, &len, &opened, NULL) ==
        SEALWAX_OK);
  CHECK(memcmp(payload, "hello", 5) == 0 && opened.generation == 0);
}

static void a_refusal_writes_nothing(void) {
  uint8_t payload[8192] = {7};
  size_t len = 7;
  sealwax_opened opened;
  sealwax_identifier identifier;
  sealwax_session *session = NULL;
  memset(&opened, 7, sizeof opened);
  memset(&identifier, 7, sizeof identifier);
  char *last = &token[token_len - 2];
  *last = *last == 'A' ? 'B' : 'A';
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, sizeof payload, &len,
                     &opened, NULL) == SEALWAX_UNAUTHENTIC);
  CHECK(payload[0] == 7 && len == 7 && opened.generation == 0x07070707);
  CHECK(sealwax_verify_session_id(alice, TEXT("sess_"), NULL, &identifier, NULL) ==
        SEALWAX_MALFORMED);
  CHECK(identifier.created_at_ms == 0x0707070707070707);
  CHECK(sealwax_session_open(alice, TEXT("{}"), &session, NULL) == SEALWAX_MALFORMED);
  CHECK(session == NULL);
}

static void null_is_absence_and_empty_is_not(void) {
  sealwax_view *view = NULL;
  CHECK(sealwax_view_new(codec, NULL, 0, TEXT(""), TEXT("alice"), &view, &error) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "client: expected 1 to 1024 bytes, found none") == 0);
  CHECK(sealwax_view_new(codec, TEXT("issuer"), NULL, 0, NULL, 0, &view, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(view == NULL);
}

static void an_empty_binding_is_not_none(void) {
  sealwax_purpose custom = {SEALWAX_KIND_CUSTOM, TEXT("note"), NULL, 0, NULL, 0};
  CHECK(sealwax_seal(alice, &custom, NULL, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_OK);
  custom.session_id = "";
  CHECK(sealwax_seal(alice, &custom, NULL, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
  custom.session_id = NULL;
  custom.context = (const uint8_t *)"";
  CHECK(sealwax_seal(alice, &custom, NULL, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
}

static void text_is_utf8(void) {
  sealwax_view *view;
  sealwax_purpose label = SESSION;
  label.label = "\xff";
  label.label_len = 1;
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("\xff"), &view, &error) == SEALWAX_NOT_UTF8);
  CHECK(strcmp(error.message, "subject: expected UTF-8") == 0);
  CHECK(strcmp(sealwax_code(error.status), "invalid_argument") == 0);
  CHECK(sealwax_seal(alice, &label, NULL, PAYLOAD, token, 0, &token_len, NULL) == SEALWAX_NOT_UTF8);
  /* A text that a client sends is the client's fault. */
  size_t len;
  CHECK(sealwax_open(alice, &SESSION, NULL, TEXT("sw1.\xff"), NULL, 0, &len, NULL, NULL) ==
        SEALWAX_MALFORMED);
}

static void lifetimes(void) {
  sealwax_opened opened;
  sealwax_lifetime both = {60, true}, neither = {0, false}, minute = {60, false}, none = {0, true};
  CHECK(sealwax_seal(alice, &SESSION, &both, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_seal(alice, &SESSION, &neither, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
  environment_stop_clock(1780000000000);
  CHECK(sealwax_seal(alice, &SESSION, &none, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_OK);
  CHECK(open_token(alice, &opened) == SEALWAX_OK && opened.expires_at == SEALWAX_NEVER);
  CHECK(sealwax_seal(alice, &SESSION, &minute, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_OK);
  CHECK(open_token(alice, &opened) == SEALWAX_OK && opened.expires_at == 1780000060);
  CHECK(!opened.needs_renewal);
  environment_stop_clock(1780000030000);
  CHECK(open_token(alice, &opened) == SEALWAX_OK && opened.needs_renewal);
  environment_stop_clock(1780000060000);
  CHECK(open_token(alice, NULL) == SEALWAX_EXPIRED && error.status == SEALWAX_EXPIRED);
  CHECK(strcmp(error.message, "expired at 1780000060, and it is 1780000060") == 0);
}

static void an_unknown_kind_is_refused(void) {
  sealwax_purpose purpose = SESSION;
  purpose.kind = 99;
  CHECK(sealwax_seal(alice, &purpose, NULL, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_kind_name(99) == NULL);
}

static void limits_hold_and_buffers_of_the_limits_suffice(void) {
  const uint64_t mebibyte = 1 << 20, too_much = mebibyte + 1, skew = 301, century = 3155760000u;
  sealwax_limits large = {&mebibyte, NULL, &century}, larger = {&too_much, NULL, NULL};
  sealwax_limits skewed = {NULL, &skew, NULL};
  sealwax_lifetime none = {0, true};
  sealwax_codec *own = NULL;
  sealwax_view *view;
  CHECK(sealwax_codec_new(ring, TEXT("a"), &larger, &own, NULL) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_codec_new(ring, TEXT("a"), &skewed, &own, NULL) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_codec_new(ring, TEXT("a"), &large, &own, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new_anonymous(own, &view, NULL) == SEALWAX_OK);
  size_t cap = sealwax_metadata_limit(own), len;
  uint8_t *payload = (uint8_t *)calloc(1, mebibyte);
  char *out = (char *)malloc(cap);
  CHECK(payload != NULL && out != NULL);
  CHECK(sealwax_seal(view, &SESSION, NULL, payload, mebibyte, out, sealwax_token_limit(own), &len,
                     NULL) == SEALWAX_OK);
  CHECK(sealwax_session_create(view, &none, payload, mebibyte, out, cap, &len, NULL) == SEALWAX_OK);
  sealwax_session *session;
  CHECK(sealwax_session_open(view, out, len, &session, NULL) == SEALWAX_OK);
  sealwax_session_free(session);
  free(out);
  free(payload);
  sealwax_view_free(view);
  sealwax_codec_free(own);
}

static void without_randomness_nothing_is_sealed(void) {
  environment_deny_random();
  sealwax_key *key = NULL;
  char out[SEALWAX_SESSION_ID_LEN];
  size_t len;
  CHECK(sealwax_key_generate(&key, NULL) == SEALWAX_ENTROPY_UNAVAILABLE && key == NULL);
  CHECK(sealwax_seal(alice, &SESSION, NULL, PAYLOAD, token, sizeof token, &len, &error) ==
        SEALWAX_ENTROPY_UNAVAILABLE);
  CHECK(!sealwax_is_refusal(error.status));
  CHECK(sealwax_mint_session_id(alice, out, sizeof out, &len, NULL, NULL) ==
        SEALWAX_ENTROPY_UNAVAILABLE);
}

static void a_clock_of_a_test_is_that_of_its_codecs_alone(void) {
  sealwax_test_clock *clock;
  sealwax_codec *tested;
  sealwax_view *view;
  sealwax_opened opened;
  const sealwax_lifetime minute = {60, false};
  environment_stop_clock(1780000000000);
  CHECK(sealwax_test_clock_new(1900000000000, &clock, NULL) == SEALWAX_OK);
  CHECK(sealwax_test_codec_new(ring, TEXT("https://mcp.example.com"), NULL, clock, &tested, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_view_new(tested, NULL, 0, NULL, 0, TEXT("alice"), &view, NULL) == SEALWAX_OK);
  CHECK(sealwax_seal(view, &SESSION, &minute, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_OK);
  CHECK(open_token(view, &opened) == SEALWAX_OK && opened.expires_at == 1900000060);
  CHECK(open_token(alice, NULL) == SEALWAX_NOT_YET_VALID);
  CHECK(sealwax_test_clock_set(clock, 1900000060000, NULL) == SEALWAX_OK);
  CHECK(open_token(view, NULL) == SEALWAX_EXPIRED);
  CHECK(sealwax_test_clock_set(NULL, 0, NULL) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_test_codec_new(ring, TEXT("a"), NULL, NULL, &tested, NULL) == SEALWAX_NULL_POINTER);
  /* The view has the last time. */
  sealwax_test_clock_free(clock);
  sealwax_codec_free(tested);
  CHECK(open_token(view, NULL) == SEALWAX_EXPIRED);
  sealwax_view_free(view);
}

int main(void) {
  const test tests[] = {TEST(versions),
                        TEST(freeing_null_is_fine),
                        TEST(views_outlive_their_codec),
                        TEST(null_is_refused_where_it_must_not_be),
                        TEST(a_small_buffer_is_told_the_size_and_left_alone),
                        TEST(a_refusal_writes_nothing),
                        TEST(null_is_absence_and_empty_is_not),
                        TEST(an_empty_binding_is_not_none),
                        TEST(text_is_utf8),
                        TEST(lifetimes),
                        TEST(an_unknown_kind_is_refused),
                        TEST(limits_hold_and_buffers_of_the_limits_suffice),
                        TEST(without_randomness_nothing_is_sealed),
                        TEST(a_clock_of_a_test_is_that_of_its_codecs_alone)};
  return RUN(tests, "the ABI's rules");
}
