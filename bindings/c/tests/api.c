/* The rules at the top of sealwax.h: outputs, sizes, absence, messages, lifetimes of objects. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "environment.h"

#define RING TEXT("swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc")
#define PAYLOAD ((const uint8_t *)"hello"), 5

static sealwax_ring *ring;
static sealwax_codec *codec;
static sealwax_view *alice;
static sealwax_error error;
static char token[8192];
static size_t token_len;

static const sealwax_purpose SESSION = {SEALWAX_KIND_SESSION, NULL, 0, NULL, 0, NULL, 0};

static void set_up(void) {
  CHECK(sealwax_ring_parse(RING, &ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &codec, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("alice"), &alice, NULL) == SEALWAX_OK);
  CHECK(sealwax_seal(alice, &SESSION, NULL, PAYLOAD, token, sizeof token, &token_len, NULL) ==
        SEALWAX_OK);
}

static void tear_down(void) {
  sealwax_view_free(alice);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
}

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
  sealwax_view_free(NULL);
  sealwax_session_free(NULL);
  sealwax_guard_free(NULL);
  sealwax_exchange_free(NULL);
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
  /* Bad input of a client is the client's fault. */
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

static void rings_of_keys(void) {
  const uint8_t secret[33] = {1};
  sealwax_key *keys[2];
  sealwax_ring *own = NULL;
  uint8_t ids[SEALWAX_RING_IDS_MAX], id[4];
  size_t len;
  CHECK(sealwax_key_from_secret(secret, 31, &keys[0], NULL) == SEALWAX_INVALID_KEY);
  CHECK(sealwax_key_from_secret(secret, 33, &keys[0], NULL) == SEALWAX_OK);
  CHECK(sealwax_key_to_text(keys[0], NULL, 0, &len, NULL) == SEALWAX_OK && len == 0);
  CHECK(sealwax_key_generate(&keys[1], NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_new((const sealwax_key *const *)keys, 2, &own, NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_ids(own, ids, sizeof ids, &len, NULL) == SEALWAX_OK && len == 8);
  CHECK(sealwax_key_id(keys[1], &id, NULL) == SEALWAX_OK && memcmp(ids + 4, id, 4) == 0);
  sealwax_ring_free(own);
  sealwax_key_free(keys[1]);
  keys[1] = keys[0];
  CHECK(sealwax_ring_new((const sealwax_key *const *)keys, 2, &own, NULL) == SEALWAX_INVALID_KEY);
  keys[1] = NULL;
  CHECK(sealwax_ring_new((const sealwax_key *const *)keys, 2, &own, NULL) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_ring_new(NULL, 0, &own, NULL) == SEALWAX_INVALID_KEY);
  sealwax_key_free(keys[0]);
  unsetenv("SEALWAX_KEYS");
  CHECK(sealwax_ring_from_env(&own, NULL) == SEALWAX_INVALID_KEY);
  setenv("SEALWAX_KEYS", "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc", 1);
  CHECK(sealwax_ring_from_env(&own, NULL) == SEALWAX_OK);
  sealwax_ring_free(own);
}

static void sessions(void) {
  char metadata[8192], id[SEALWAX_SESSION_ID_LEN], other_id[SEALWAX_SESSION_ID_LEN];
  uint8_t payload[64];
  size_t len, id_len;
  sealwax_session *session;
  sealwax_opened opened;
  sealwax_identifier identifier;
  environment_stop_clock(1780000000123);
  CHECK(sealwax_session_create(alice, NULL, PAYLOAD, metadata, sizeof metadata, &len, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_session_open(alice, metadata, len, &session, NULL) == SEALWAX_OK);
  CHECK(sealwax_session_id(session, id, sizeof id, &id_len, &identifier, NULL) == SEALWAX_OK);
  CHECK(identifier.created_at_ms == 1780000000123 && identifier.ends_at_ms == SEALWAX_NEVER);
  CHECK(sealwax_session_verify(alice, id, id_len, &identifier, NULL) == SEALWAX_OK);

  CHECK(sealwax_session_renew(alice, NULL, session, (const uint8_t *)"hi", 2, metadata,
                              sizeof metadata, &len, NULL) == SEALWAX_OK);
  sealwax_session_free(session);
  CHECK(sealwax_session_open(alice, metadata, len, &session, NULL) == SEALWAX_OK);
  CHECK(sealwax_session_payload(session, payload, sizeof payload, &len, &opened, NULL) ==
        SEALWAX_OK);
  CHECK(len == 2 && memcmp(payload, "hi", 2) == 0 && opened.generation == 1);

  CHECK(sealwax_session_fork(alice, NULL, session, metadata, sizeof metadata, &len, NULL) ==
        SEALWAX_OK);
  sealwax_session_free(session);
  CHECK(sealwax_session_open(alice, metadata, len, &session, NULL) == SEALWAX_OK);
  CHECK(sealwax_session_id(session, other_id, sizeof other_id, &id_len, NULL, NULL) == SEALWAX_OK);
  CHECK(memcmp(id, other_id, sizeof id) != 0);
  sealwax_session_free(session);

  sealwax_view *nobody;
  CHECK(sealwax_view_new_anonymous(codec, &nobody, NULL) == SEALWAX_OK);
  CHECK(sealwax_session_open(nobody, metadata, len, &session, NULL) == SEALWAX_PRINCIPAL_MISMATCH);
  sealwax_view_free(nobody);
  environment_stop_clock(1780000000123 + 30 * 86400000ull);
  CHECK(sealwax_session_verify(alice, id, sizeof id, NULL, NULL) == SEALWAX_EXPIRED);
}

static void identifiers_end_under_a_maximum_age(void) {
  char out[SEALWAX_HANDLE_MAX];
  size_t len;
  const uint64_t hour = 3600;
  sealwax_identifier identifier;
  environment_stop_clock(1780000000123);
  CHECK(sealwax_mint_handle(alice, TEXT("basket"), out, sizeof out, &len, NULL, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_verify_handle(alice, TEXT("basket"), out, len, &hour, &identifier, NULL) ==
        SEALWAX_OK);
  CHECK(identifier.ends_at_ms == 1780000000123 + 3600000);
  CHECK(sealwax_verify_handle(alice, TEXT("order"), out, len, NULL, NULL, NULL) ==
        SEALWAX_WRONG_PURPOSE);
}

static void a_token_tells_its_end_without_being_opened(void) {
  const sealwax_lifetime second = {1, false}, never = {0, true};
  sealwax_sealed sealed;
  sealwax_opened opened;
  uint8_t payload[8];
  size_t len;
  environment_stop_clock(1780000000123);
  CHECK(sealwax_seal_token(alice, &SESSION, &second, NULL, PAYLOAD, token, sizeof token, &token_len,
                           &sealed, NULL) == SEALWAX_OK);
  CHECK(sealed.issued_at == 1780000000 && sealed.expires_at == 1780000001);
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, sizeof payload, &len,
                     &opened, NULL) == SEALWAX_OK);
  CHECK(memcmp(opened.token_id, sealed.token_id, sizeof sealed.token_id) == 0);
  environment_stop_clock(1780000009000);
  CHECK(sealwax_seal_token(alice, &SESSION, &never, &opened, PAYLOAD, token, sizeof token,
                           &token_len, &sealed, NULL) == SEALWAX_OK);
  CHECK(sealed.issued_at == 1780000009 && sealed.expires_at == SEALWAX_NEVER);
  CHECK(sealwax_open(alice, &SESSION, NULL, token, token_len, payload, sizeof payload, &len,
                     &opened, NULL) == SEALWAX_OK);
  CHECK(opened.generation == 1 && opened.started_at == 1780000000);
  CHECK(sealwax_seal_token(alice, &SESSION, NULL, NULL, PAYLOAD, token, sizeof token, &token_len,
                           NULL, NULL) == SEALWAX_NULL_POINTER);
}

static void options_are_checked_by_name(void) {
  char out[256];
  size_t len;
  const uint64_t hour = 3600;
  sealwax_identifier identifier;
  CHECK(sealwax_check_ttl(1, NULL) == SEALWAX_OK);
  CHECK(sealwax_check_ttl(0, &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "1 to 4294967295 seconds") != NULL);
  CHECK(sealwax_check_ttl(4294967296, NULL) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_check_handle_type(TEXT("basket"), NULL) == SEALWAX_OK);
  CHECK(sealwax_check_handle_type(TEXT("sess"), NULL) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_default_ttl(SEALWAX_KIND_REQUEST_STATE) == 600 && sealwax_default_ttl(99) == 0);
  environment_stop_clock(1780000000123);
  CHECK(sealwax_new_handle(alice, TEXT("basket"), &hour, out, sizeof out, &len, &identifier,
                           NULL) == SEALWAX_OK);
  CHECK(identifier.ends_at_ms == 1780000000123 + 3600000);
  CHECK(sealwax_session_mint(alice, out, sizeof out, &len, NULL) == SEALWAX_OK);
  out[len] = '\0';
  CHECK(strstr(out, "\"expiresAt\":\"2026-06-27T20:26:40Z\"}") != NULL);
}

static void answer_is(const char *profile, sealwax_status status, const char *id,
                      const char *expected) {
  char out[SEALWAX_ANSWER_MAX];
  slice answer = {out, 0};
  CHECK(sealwax_answer(profile, strlen(profile), status, id, id == NULL ? 0 : strlen(id), out,
                       sizeof out, &answer.len, NULL) == SEALWAX_OK);
  CHECK(is(answer, expected));
}

static void answers(void) {
  const char *not_found =
      "{\"error\":{\"code\":-32043,\"message\":\"Session not found\","
      "\"data\":{\"sessionId\":\"sess_1\"}}}";
  answer_is("data-layer", SEALWAX_EXPIRED, "sess_1", not_found);
  answer_is("data-layer", SEALWAX_UNAUTHENTIC, "sess_1", not_found);
  answer_is("data-layer", SEALWAX_OK, "sess_1", not_found);
  answer_is("mcp-session-id", SEALWAX_MALFORMED, "not\xffwell formed", "{\"httpStatus\":404}");
  answer_is("mcp-session-id", SEALWAX_ENTROPY_UNAVAILABLE, NULL, "{\"httpStatus\":500}");
  char quotes[1024], out[SEALWAX_ANSWER_MAX];
  size_t len;
  memset(quotes, '"', sizeof quotes);
  CHECK(sealwax_answer(TEXT("sep-1359"), SEALWAX_EXPIRED, quotes, sizeof quotes, out, sizeof out,
                       &len, NULL) == SEALWAX_OK);
  CHECK(len > 2 * sizeof quotes);
  CHECK(sealwax_answer(TEXT("http"), SEALWAX_EXPIRED, NULL, 0, out, sizeof out, &len, NULL) ==
        SEALWAX_INVALID_ARGUMENT);
}

static void inspecting(void) {
  sealwax_inspection seen;
  char out[SEALWAX_HANDLE_MAX];
  size_t len;
  CHECK(sealwax_inspect(RING, &seen, NULL) == SEALWAX_OK);
  CHECK(seen.what == SEALWAX_IS_KEY && memcmp(seen.key_id, "\xa8\xca\x0d\x4a", 4) == 0);
  CHECK(sealwax_inspect(token, token_len, &seen, NULL) == SEALWAX_OK);
  CHECK(seen.what == SEALWAX_IS_TOKEN && seen.kind == SEALWAX_KIND_SESSION);
  environment_stop_clock(1780000000123);
  CHECK(sealwax_mint_handle(alice, TEXT("basket"), out, sizeof out, &len, NULL, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_inspect(out, len, &seen, NULL) == SEALWAX_OK);
  CHECK(seen.what == SEALWAX_IS_HANDLE && seen.created_at_ms == 1780000000123);
  CHECK(seen.handle_type_len == 6 && memcmp(seen.handle_type, "basket", 6) == 0);
  CHECK(sealwax_mint_session_id(alice, out, sizeof out, &len, NULL, NULL) == SEALWAX_OK);
  CHECK(sealwax_inspect(out, len, &seen, NULL) == SEALWAX_OK);
  CHECK(seen.what == SEALWAX_IS_SESSION_ID && memcmp(seen.key_id, "\xa8\xca\x0d\x4a", 4) == 0);
  CHECK(sealwax_inspect(TEXT("hello"), &seen, NULL) == SEALWAX_MALFORMED);
}

static void requests_tell_what_they_carry_and_who_sent_them(void) {
  char out[SEALWAX_PRINCIPAL_MAX];
  slice found = {out, 0};
  CHECK(sealwax_carried(TEXT("tools/list"), out, sizeof out, &found.len, NULL) == SEALWAX_OK);
  CHECK(is(found,
           "{\"kind\":\"cursor\",\"param\":\"cursor\",\"result\":\"nextCursor\",\"target\":null}"));
  CHECK(found.len <= SEALWAX_CARRIED_MAX);
  CHECK(sealwax_carried(TEXT("ping"), out, sizeof out, &found.len, NULL) == SEALWAX_OK);
  CHECK(is(found, "null"));

  CHECK(sealwax_principal_from_claims(
            TEXT("{\"iss\":\"i\",\"sub\":\"\\u0061\",\"azp\":\"c\",\"aud\":[1]}"), out, sizeof out,
            &found.len, NULL) == SEALWAX_OK);
  CHECK(is(found, "{\"client\":\"c\",\"issuer\":\"i\",\"subject\":\"a\"}"));
  const char *refused[] = {"{\"iss\":\"i\"}",
                           "{\"sub\":\"a\"}",
                           "{\"iss\":\"i\",\"sub\":7}",
                           "[]",
                           "",
                           "{\"iss\":\"i\",\"sub\":\"a\",\"sub\":\"b\"}"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    CHECK(sealwax_principal_from_claims(refused[i], strlen(refused[i]), out, sizeof out, &found.len,
                                        NULL) == SEALWAX_INVALID_ARGUMENT);
}

static void contexts_by_named_arguments(void) {
  uint8_t of_all[32], of_some[32];
  const char *names[] = {"id", "name"}, *missing[] = {"id", NULL}, *latin[] = {"\xff"};
  CHECK(sealwax_request_context(TEXT("tools/call"), TEXT("x"), TEXT("{\"id\":7}"), &of_all, NULL) ==
        SEALWAX_OK);
#define NAMED(arguments, names, count)                                                       \
  sealwax_request_context_only(TEXT("tools/call"), TEXT("x"), TEXT(arguments), names, count, \
                               &of_some, NULL)
  CHECK(NAMED("{\"id\":7,\"n\":18446744073709551615}", names, 2) == SEALWAX_OK);
  CHECK(memcmp(of_all, of_some, sizeof of_all) == 0);
  CHECK(NAMED("{\"n\":7}", names, 2) == SEALWAX_INVALID_ARGUMENT);
  CHECK(NAMED("{\"id\":7}", NULL, 0) == SEALWAX_INVALID_ARGUMENT);
  CHECK(NAMED("{\"id\":7}", NULL, 1) == SEALWAX_NULL_POINTER);
  CHECK(NAMED("{\"id\":7}", missing, 2) == SEALWAX_NULL_POINTER);
  CHECK(NAMED("{\"id\":7}", latin, 1) == SEALWAX_NOT_UTF8);
#undef NAMED
}

static sealwax_guard *guard;
static sealwax_exchange *exchange;
static const char *step;
static size_t step_len;

#define STEP &step, &step_len, &error
#define CALL "{\"method\":\"tools/call\",\"target\":\"t\",\"modern\":true}"
#define ALICE "{\"principal\":{\"subject\":\"alice\"}}"

static int told(const char *text) {
  return step_len == strlen(text) && memcmp(step, text, step_len) == 0;
}

static int tells(const char *text) {
  size_t len = strlen(text);
  for (size_t at = 0; at + len <= step_len; at++)
    if (memcmp(step + at, text, len) == 0) return 1;
  return 0;
}

static void an_exchange_goes_from_step_to_step(void) {
  CHECK(sealwax_guard_new(codec, TEXT("{\"asks\":true}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_message(guard, TEXT(CALL), TEXT("{}"), &exchange, STEP) == SEALWAX_OK);
  CHECK(told("{\"step\":\"identify\"}"));
  /* An event out of order changes nothing, and returns nothing. */
  const char *others[] = {"{\"left\":{}}", "{\"answer\":\"yes\"}", "{\"what\":1}", "{}", "[", ""};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    step = NULL;
    CHECK(sealwax_exchange_on(exchange, others[i], strlen(others[i]), NULL, 0, STEP) ==
          SEALWAX_INVALID_ARGUMENT);
    CHECK(step == NULL);
  }
  CHECK(sealwax_exchange_write(exchange, TEXT("1"), &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_fork(exchange, STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_OK);
  CHECK(told("{\"step\":\"deliver\",\"watch\":\"requestState\"}"));
  CHECK(sealwax_exchange_on(exchange,
                            TEXT("{\"left\":{\"outcome\":\"input_required\",\"token\":\"mine\"}}"),
                            NULL, 0, STEP) == SEALWAX_OK);
  CHECK(tells("\"step\":\"leave\"") && tells("\"token\":\"sw1.") && !tells("mine"));
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_INVALID_ARGUMENT);
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
}

static void an_exchange_has_its_session_and_its_handles(void) {
  sealwax_exchange *acting;
  char message[8192], metadata[4096];
  size_t len;
  CHECK(sealwax_guard_new(codec, TEXT("{\"sessions\":{\"ttl\":60}}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_session_create(alice, NULL, (const uint8_t *)"1", 1, metadata, sizeof metadata,
                               &len, NULL) == SEALWAX_OK);
  /* Texts without escapes, each in its quotes. */
  const char *id = strstr(metadata, "\"sessionId\":") + 12;
  const char *state = strstr(metadata, "\"state\":") + 8;
  int written = snprintf(message, sizeof message,
                         "{\"method\":\"tools/call\",\"target\":\"t\",\"session\":{\"id\":%.*s,"
                         "\"state\":%.*s},\"principal\":{\"subject\":\"alice\"}}",
                         (int)(strchr(id + 1, '"') + 1 - id), id,
                         (int)(strchr(state + 1, '"') + 1 - state), state);
  CHECK(written > 0 && (size_t)written < sizeof message);
  CHECK(sealwax_guard_message(guard, message, (size_t)written, NULL, 0, &exchange, STEP) ==
        SEALWAX_OK);
  CHECK(tells("\"step\":\"deliver\"") && tells("\"value\":\"1\""));
  CHECK(sealwax_exchange_write(exchange, TEXT("{"), &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_write(exchange, TEXT("\xff"), &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_exchange_write(exchange, TEXT("2"), &error) == SEALWAX_OK);
  CHECK(sealwax_exchange_fork(exchange, STEP) == SEALWAX_OK);
  CHECK(tells("\"sessionId\":\"sess_") && tells("\"state\":\"sw1."));
  CHECK(sealwax_exchange_act(exchange, TEXT("{\"do\":\"dance\"}"), NULL, 0, &acting, STEP) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_act(exchange, TEXT("{\"do\":\"seal\",\"type\":\"order\"}"), NULL, 0,
                             &acting, STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_act(exchange, TEXT("{\"do\":\"seal\",\"type\":\"order\"}"), TEXT("[7]"),
                             &acting, STEP) == SEALWAX_OK);
  /* It is one by itself, and outlives what it began in. */
  sealwax_exchange_free(exchange);
  CHECK(tells("\"step\":\"done\"") && tells("\"handle\":\""));
  sealwax_exchange_free(acting);
  sealwax_guard_free(guard);
}

static void exchanges_end_at_any_moment(void) {
  const char *events[] = {ALICE, "{\"left\":{}}"};
  for (size_t taken = 0; taken <= sizeof events / sizeof *events; taken++) {
    sealwax_codec *own;
    CHECK(sealwax_codec_new(ring, TEXT("https://mcp.example.com"), NULL, &own, NULL) == SEALWAX_OK);
    CHECK(sealwax_guard_new(own, TEXT("{}"), &guard, NULL) == SEALWAX_OK);
    sealwax_codec_free(own);
    CHECK(sealwax_guard_message(guard, TEXT(CALL), NULL, 0, &exchange, STEP) == SEALWAX_OK);
    /* It outlives its guard. */
    sealwax_guard_free(guard);
    for (size_t i = 0; i < taken; i++)
      CHECK(sealwax_exchange_on(exchange, events[i], strlen(events[i]), NULL, 0, STEP) ==
            SEALWAX_OK);
    sealwax_exchange_free(exchange);
  }
}

static void guards_and_exchanges_refuse_null_and_what_is_no_document(void) {
  guard = NULL;
  exchange = NULL;
  step = NULL;
  CHECK(sealwax_guard_new(NULL, TEXT("{}"), &guard, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_new(codec, NULL, 2, &guard, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_new(codec, TEXT("{}"), NULL, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_new(codec, TEXT("\xff"), &guard, &error) == SEALWAX_NOT_UTF8);
  CHECK(sealwax_guard_new(codec, TEXT("[]"), &guard, &error) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_guard_new(codec, TEXT("{\"requestStateTtl\":0}"), &guard, &error) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(guard == NULL);
  CHECK(sealwax_guard_new(codec, TEXT("{}"), &guard, NULL) == SEALWAX_OK);
  CHECK(sealwax_guard_message(NULL, TEXT(CALL), NULL, 0, &exchange, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_message(guard, NULL, 2, NULL, 0, &exchange, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_message(guard, TEXT(CALL), NULL, 0, NULL, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_message(guard, TEXT(CALL), NULL, 0, &exchange, NULL, &step_len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_guard_transport(guard, TEXT("{}"), NULL, 0, &exchange, &step, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(exchange == NULL && step == NULL);
  /* Input of a client never makes them fail. */
  const char *sent[] = {"\xff", "", "[]", "{\"method\":\"\\ud800\"}"};
  for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
    CHECK(sealwax_guard_message(guard, sent[i], strlen(sent[i]), NULL, 0, &exchange, STEP) ==
          SEALWAX_OK);
    CHECK(tells("\"step\":\"reply\"") && tells("\"code\":\"malformed\""));
    sealwax_exchange_free(exchange);
    CHECK(sealwax_guard_transport(guard, sent[i], strlen(sent[i]), NULL, 0, &exchange, STEP) ==
          SEALWAX_OK);
    CHECK(tells("\"step\":\"reply\""));
    sealwax_exchange_free(exchange);
  }
  CHECK(sealwax_guard_message(guard, TEXT(CALL), TEXT("\xff"), &exchange, STEP) == SEALWAX_OK);
  CHECK(told("{\"step\":\"identify\"}"));
  CHECK(sealwax_exchange_on(NULL, TEXT(ALICE), NULL, 0, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_on(exchange, TEXT(ALICE), NULL, 0, NULL, &step_len, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_on(exchange, TEXT("\xff"), NULL, 0, STEP) == SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_exchange_act(exchange, TEXT("{}"), NULL, 0, NULL, STEP) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_write(NULL, TEXT("1"), &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_exchange_fork(NULL, STEP) == SEALWAX_NULL_POINTER);
  sealwax_exchange_free(exchange);
  /* An invalid principal in a message is not the client's fault. */
  CHECK(sealwax_guard_message(guard,
                              TEXT("{\"method\":\"tools/call\",\"target\":\"t\",\"principal\":{}}"),
                              NULL, 0, &exchange, STEP) == SEALWAX_OK);
  CHECK(tells("-32603") && tells("\"code\":\"invalid_argument\""));
  sealwax_exchange_free(exchange);
  sealwax_guard_free(guard);
}

#define TEST(name) {#name, name}

int main(void) {
  const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {TEST(versions),
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
               TEST(rings_of_keys),
               TEST(sessions),
               TEST(identifiers_end_under_a_maximum_age),
               TEST(a_token_tells_its_end_without_being_opened),
               TEST(options_are_checked_by_name),
               TEST(answers),
               TEST(inspecting),
               TEST(requests_tell_what_they_carry_and_who_sent_them),
               TEST(contexts_by_named_arguments),
               TEST(an_exchange_goes_from_step_to_step),
               TEST(an_exchange_has_its_session_and_its_handles),
               TEST(exchanges_end_at_any_moment),
               TEST(guards_and_exchanges_refuse_null_and_what_is_no_document)};
  const size_t count = sizeof tests / sizeof *tests;
  for (size_t i = 0; i < count; i++) {
    subject = tests[i].name;
    environment_reset();
    set_up();
    tests[i].run();
    tear_down();
  }
  printf("%d tests of the ABI's rules\n", (int)count);
  return 0;
}
