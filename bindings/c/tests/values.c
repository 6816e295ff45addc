/* Rings, sessions, identifiers, tokens, answers and requests: the values that go in and out. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#ifdef _WIN32
#define setenv(name, value, overwrite) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")
#endif

static void rings_of_keys(void) {
  const uint8_t secret[33] = {1};
  sealwax_key *keys[2];
  sealwax_ring *own = NULL;
  uint8_t ids[SEALWAX_RING_IDS_MAX], id[4];
  size_t len;
  CHECK(sealwax_key_from_secret(secret, 31, &keys[0], NULL) == SEALWAX_INVALID_KEY);
  CHECK(sealwax_key_from_secret(secret, 33, &keys[0], NULL) == SEALWAX_OK);
  CHECK(sealwax_key_from_secret(secret + 1, 32, &keys[1], NULL) == SEALWAX_INVALID_KEY);
  const uint8_t passphrase[] = "correct horse battery staple, correct horse";
  CHECK(sealwax_key_from_secret(passphrase, sizeof passphrase - 1, &keys[1], NULL) ==
        SEALWAX_INVALID_KEY);
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

static void keys_change_while_a_codec_is_in_use(void) {
  const char *path = "keys.txt";
  char token[256];
  uint8_t payload[64];
  size_t len, opened;
  bool changed = true;
  sealwax_ring *first, *second = NULL;
  sealwax_codec *codec;
  sealwax_view *before, *after;
  sealwax_error error;
  const sealwax_purpose purpose = {SEALWAX_KIND_SESSION, NULL, 0, NULL, 0, NULL, 0};
  CHECK(sealwax_ring_parse(TEXT("swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"), &first,
                           NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(first, TEXT("https://mcp.example.com"), NULL, &codec, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_view_new_anonymous(codec, &before, NULL) == SEALWAX_OK);
  CHECK(sealwax_seal(before, &purpose, NULL, NULL, 0, token, sizeof token, &len, NULL) ==
        SEALWAX_OK);
  CHECK(sealwax_codec_set_keys(codec, first, &changed, NULL) == SEALWAX_OK && !changed);

  CHECK(sealwax_ring_read(TEXT("/nowhere/keys"), &second, &error) == SEALWAX_INVALID_KEY);
  CHECK(second == NULL && strncmp(error.message, "keys file /nowhere/keys: ", 25) == 0);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL &&
        fputs("# the second key\nswk1_9XNkH4m6VF07gXeugCtljf-jlUeikK0w0Lc-4D7yIAU3IBDp\n", file) >=
            0);
  CHECK(fclose(file) == 0);
  CHECK(sealwax_ring_read(path, strlen(path), &second, NULL) == SEALWAX_OK);
  CHECK(remove(path) == 0);
  CHECK(sealwax_codec_set_keys(codec, second, &changed, NULL) == SEALWAX_OK && changed);
  CHECK(sealwax_codec_set_keys(codec, second, NULL, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_set_keys(codec, NULL, NULL, NULL) == SEALWAX_NULL_POINTER);

  CHECK(sealwax_view_new_anonymous(codec, &after, NULL) == SEALWAX_OK);
  CHECK(sealwax_open(after, &purpose, NULL, token, len, payload, sizeof payload, &opened, NULL,
                     NULL) == SEALWAX_UNKNOWN_KEY);
  CHECK(sealwax_open(before, &purpose, NULL, token, len, payload, sizeof payload, &opened, NULL,
                     NULL) == SEALWAX_OK);
  sealwax_view_free(before);
  sealwax_view_free(after);
  sealwax_codec_free(codec);
  sealwax_ring_free(first);
  sealwax_ring_free(second);
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

static void reports(void) {
  static const char session_id[] =
      "sess_qMoNSgGecN-5gKnPkegBArHZ9SjLrOI5HCiofWg2X0mLq4EZgi0gQLDuxew";
  char out[SEALWAX_REPORT_MAX];
  slice found = {out, 0};
  sealwax_ring *own = NULL;
  CHECK(sealwax_ring_parse(RING, &own, NULL) == SEALWAX_OK);
  CHECK(sealwax_report_words(TEXT(session_id), NULL, 1780010171, out, sizeof out, &found.len,
                             NULL) == SEALWAX_OK);
  CHECK(is(found,
           "session id\nprefix: sess_\nkey id: a8ca0d4a\n"
           "in this ring: unknown, no keys given\nlength: 64 characters\n"
           "made at: 2026-05-28T23:16:10Z\nage: 1s"));
  CHECK(sealwax_report_json(TEXT(session_id), NULL, out, sizeof out, &found.len, NULL) ==
        SEALWAX_OK);
  CHECK(is(found,
           "{\"what\":\"session-id\",\"key_id\":\"a8ca0d4a\",\"in_ring\":null,"
           "\"created_at_ms\":1780010170752,\"ledger_end\":{\"kind\":\"session\","
           "\"id\":\"019e70dfb980a9cf91e80102b1d9f528\"},\"length\":64}"));
  CHECK(sealwax_report_json(RING, own, out, sizeof out, &found.len, NULL) == SEALWAX_OK);
  CHECK(is(found, "{\"what\":\"key\",\"key_id\":\"a8ca0d4a\",\"in_ring\":true,\"length\":53}"));
  CHECK(sealwax_report_words(token, token_len, own, UINT64_MAX, NULL, 0, &found.len, NULL) ==
        SEALWAX_BUFFER_TOO_SMALL);
  CHECK(found.len > 0 && found.len <= SEALWAX_REPORT_MAX);
  CHECK(sealwax_report_words(TEXT("\xff"), NULL, 0, out, sizeof out, &found.len, NULL) ==
        SEALWAX_MALFORMED);
  CHECK(sealwax_report_json(RING, own, out, sizeof out, NULL, NULL) == SEALWAX_NULL_POINTER);
  sealwax_ring_free(own);
}

static void requests_tell_their_tokens_and_their_principal(void) {
  char out[SEALWAX_PRINCIPAL_MAX];
  slice found = {out, 0};
  CHECK(sealwax_token_fields(TEXT("tools/list"), out, sizeof out, &found.len, NULL) == SEALWAX_OK);
  CHECK(is(
      found,
      "{\"kind\":\"cursor\",\"needsCaller\":false,\"param\":\"cursor\",\"result\":\"nextCursor\","
      "\"target\":null}"));
  CHECK(found.len <= SEALWAX_TOKEN_FIELDS_MAX);
  CHECK(sealwax_token_fields(TEXT("notifications/progress"), out, sizeof out, &found.len, NULL) ==
        SEALWAX_OK);
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

int main(void) {
  const test tests[] = {TEST(rings_of_keys),
                        TEST(keys_change_while_a_codec_is_in_use),
                        TEST(sessions),
                        TEST(identifiers_end_under_a_maximum_age),
                        TEST(a_token_tells_its_end_without_being_opened),
                        TEST(options_are_checked_by_name),
                        TEST(answers),
                        TEST(inspecting),
                        TEST(reports),
                        TEST(requests_tell_their_tokens_and_their_principal),
                        TEST(contexts_by_named_arguments)};
  return RUN(tests, "the ABI's values");
}
