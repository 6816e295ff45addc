/* Runs every vector, as vectors.py prints them on stdin. */
#include "check.h"
#include "environment.h"

enum { MEMBERS = 32, TOKEN = 8192, LINE = 1 << 16 };

typedef struct vector {
  const char *section;
  struct {
    const char *name;
    slice value;
  } members[MEMBERS];
  int count;
} vector;

/* Splits a line in place. */
static vector parse(char *line) {
  vector v;
  v.section = strtok(line, "\t\n");
  v.count = 0;
  for (char *member; (member = strtok(NULL, "\t\n")) != NULL; v.count++) {
    char *end = member + strcspn(member, ":=");
    slice value = {end + 1, strlen(end + 1)};
    CHECK(v.count < MEMBERS);
    v.members[v.count].name = member;
    v.members[v.count].value = *end == ':' ? unhex(value) : value;
    *end = '\0';
  }
  return v;
}

static slice text(const vector *v, const char *name) {
  for (int i = 0; i < v->count; i++)
    if (strcmp(v->members[i].name, name) == 0) return v->members[i].value;
  slice absent = {NULL, 0};
  return absent;
}

/* A member as a pointer and a size. */
#define OF(name) SLICE(text(v, name))
/* One that is absent where it is empty. */
#define PRESENT(name) SLICE(present(text(v, name)))

static int has(const vector *v, const char *name) { return text(v, name).data != NULL; }

static uint64_t number(const vector *v, const char *name) {
  CHECK(has(v, name));
  return strtoull(text(v, name).data, NULL, 10);
}

static int equals(const vector *v, const char *name, const void *data, size_t len) {
  return has(v, name) && same(text(v, name), data, len);
}

/* Whether a vector is of this failure; else the call succeeded. */
static int is_refused(const vector *v, sealwax_status status) {
  if (has(v, "error"))
    CHECK(is(text(v, "error"), sealwax_code(status)));
  else
    CHECK(status == SEALWAX_OK);
  return has(v, "error");
}

static void check_key_id(const vector *v, sealwax_key *key) {
  uint8_t id[4];
  CHECK(sealwax_key_id(key, &id, NULL) == SEALWAX_OK);
  CHECK(equals(v, "kid", id, sizeof id));
  sealwax_key_free(key);
}

static void check_ring_ids(const vector *v, sealwax_ring *ring) {
  uint8_t ids[SEALWAX_RING_IDS_MAX];
  size_t len;
  CHECK(sealwax_ring_ids(ring, ids, sizeof ids, &len, NULL) == SEALWAX_OK);
  CHECK(equals(v, "keys", ids, len));
  sealwax_ring_free(ring);
}

static sealwax_view *view_of(const vector *v, sealwax_status *status) {
  sealwax_ring *ring = NULL;
  sealwax_codec *codec = NULL;
  sealwax_view *view = NULL;
  *status = sealwax_ring_parse(OF("ring"), &ring, NULL);
  if (*status == SEALWAX_OK) *status = sealwax_codec_new(ring, OF("audience"), NULL, &codec, NULL);
  if (*status == SEALWAX_OK && has(v, "principal.anonymous"))
    *status = sealwax_view_new_anonymous(codec, &view, NULL);
  else if (*status == SEALWAX_OK)
    *status = sealwax_view_new(codec, PRESENT("principal.issuer"), PRESENT("principal.client"),
                               PRESENT("principal.subject"), &view, NULL);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
  return view;
}

static sealwax_purpose purpose_of(const vector *v) {
  slice context = present(text(v, "context"));
  sealwax_purpose purpose = {kind_of(text(v, "kind")), OF("label"), PRESENT("session_id"),
                             bytes(context), context.len};
  return purpose;
}

static void check_key(const vector *v) {
  slice secret = text(v, "secret");
  sealwax_key *key = NULL, *parsed = NULL;
  char out[SEALWAX_KEY_TEXT_LEN];
  size_t len;
  CHECK(sealwax_key_from_secret(bytes(secret), secret.len, &key, NULL) == SEALWAX_OK);
  CHECK(sealwax_key_to_text(key, out, sizeof out, &len, NULL) == SEALWAX_OK);
  CHECK(equals(v, "text", out, len));
  CHECK(sealwax_key_parse(OF("text"), &parsed, NULL) == SEALWAX_OK);
  check_key_id(v, key);
  check_key_id(v, parsed);
}

static void check_derived(const vector *v) {
  sealwax_key *key = NULL;
  if (!is_refused(v, sealwax_key_derive(OF("from"), &key, NULL))) check_key_id(v, key);
}

static void check_environment(const vector *v) {
  static const char *const NAMES[] = {"SEALWAX_KEYS", "SEALWAX_KEYS_FILE", "SEALWAX_SECRET",
                                      "SEALWAX_SECRET_FALLBACKS"};
  char variables[TOKEN], name[64];
  size_t len = 0;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    snprintf(name, sizeof name, "variables.%s", NAMES[i]);
    slice value = text(v, name);
    len += (size_t)snprintf(variables + len, sizeof variables - len, "%s=%.*s", NAMES[i],
                            (int)value.len, value.len ? value.data : "") +
           1;
  }
  /* It is written also where there is none. */
  sealwax_ring *ring = (sealwax_ring *)&len;
  sealwax_status status = sealwax_ring_from_variables(variables, len, &ring, NULL);
  if (is_refused(v, status)) return;
  CHECK((ring == NULL) == has(v, "is_file"));
  if (ring != NULL) check_ring_ids(v, ring);
}

static void check_key_ring(const vector *v) {
  sealwax_ring *ring = NULL;
  if (!is_refused(v, sealwax_ring_parse(OF("ring"), &ring, NULL))) check_ring_ids(v, ring);
}

static void check_opened(const vector *v, const char *prefix, const sealwax_opened *opened,
                         const uint8_t *payload, size_t len) {
  char name[64];
#define MEMBER(member) (snprintf(name, sizeof name, "%s%s", prefix, member), name)
  uint64_t issued_at = number(v, MEMBER("issued_at"));
  uint64_t age = number(v, MEMBER("age"));
  uint64_t ttl = number(v, MEMBER("ttl"));
  CHECK(equals(v, MEMBER("payload"), payload, len));
  CHECK(equals(v, MEMBER("token_id"), opened->token_id, sizeof opened->token_id));
  CHECK(opened->generation == number(v, MEMBER("generation")));
  CHECK(opened->issued_at == issued_at);
  CHECK(opened->started_at == (issued_at > age ? issued_at - age : 0));
  CHECK(opened->expires_at == (ttl == 0 ? SEALWAX_NEVER : issued_at + ttl));
#undef MEMBER
}

/* Seals a vector; a later generation is renewed from its claims. The ABI cannot seal a first
   generation with an age above 0; such a vector is only opened. */
static void check_sealed(const vector *v) {
  sealwax_status status;
  sealwax_view *view = view_of(v, &status);
  CHECK(status == SEALWAX_OK);
  sealwax_purpose purpose = purpose_of(v);
  uint64_t age = number(v, "age"), generation = number(v, "generation"), ttl = number(v, "ttl");
  sealwax_lifetime lifetime = {ttl, ttl == 0};
  slice payload = text(v, "payload"), nonce = text(v, "nonce"), token = text(v, "token");
  environment_stop_clock(number(v, "issued_at") * 1000 + 999);
  environment_set_random(bytes(nonce), nonce.len);
  char out[TOKEN];
  size_t len = 0;
  if (generation > 0) {
    sealwax_opened before;
    memset(&before, 0, sizeof before);
    before.started_at = number(v, "issued_at") - age;
    before.generation = (uint32_t)generation - 1;
    status = sealwax_renew(view, &purpose, &lifetime, &before, bytes(payload), payload.len, out,
                           sizeof out, &len, NULL);
  } else if (age == 0) {
    status = sealwax_seal(view, &purpose, &lifetime, bytes(payload), payload.len, out, sizeof out,
                          &len, NULL);
  }
  CHECK(status == SEALWAX_OK);
  CHECK(len == 0 ? generation == 0 && age > 0 : same(token, out, len));
  uint8_t opened_payload[TOKEN];
  sealwax_opened opened;
  CHECK(sealwax_open(view, &purpose, NULL, token.data, token.len, opened_payload,
                     sizeof opened_payload, &len, &opened, NULL) == SEALWAX_OK);
  check_opened(v, "", &opened, opened_payload, len);
  sealwax_view_free(view);
}

/* What is minted for a vector, whose text has the name of its section's. */
static void check_minted(const vector *v, const char *name) {
  sealwax_status status;
  sealwax_view *view = view_of(v, &status);
  sealwax_identifier identifier;
  slice ulid = text(v, "ulid");
  char out[SEALWAX_HANDLE_MAX];
  size_t len;
  CHECK(status == SEALWAX_OK);
  environment_stop_clock(number(v, "issued_at_ms"));
  environment_set_random(bytes(ulid) + 6, ulid.len - 6);
  status = !has(v, "type")
               ? sealwax_mint_session_id(view, out, sizeof out, &len, &identifier, NULL)
               : sealwax_mint_handle(view, OF("type"), out, sizeof out, &len, &identifier, NULL);
  CHECK(status == SEALWAX_OK && equals(v, name, out, len));
  CHECK(identifier.created_at_ms == number(v, "issued_at_ms"));
  CHECK(equals(v, "ulid", identifier.ulid, sizeof identifier.ulid));
  status = !has(v, "type") ? sealwax_verify_session_id(view, out, len, NULL, NULL, NULL)
                           : sealwax_verify_handle(view, OF("type"), out, len, NULL, NULL, NULL);
  CHECK(status == SEALWAX_OK);
  sealwax_view_free(view);
}

static void check_session_id(const vector *v) { check_minted(v, "session_id"); }
static void check_handle(const vector *v) { check_minted(v, "handle"); }

/* Vectors without a request are about the arguments alone. */
static void check_request_context(const vector *v) {
  uint8_t context[32];
  sealwax_status status =
      has(v, "method")
          ? sealwax_request_context(OF("method"), OF("target"), OF("arguments"), &context, NULL)
          : sealwax_request_context(TEXT("tools/call"), TEXT("x"), OF("arguments"), &context, NULL);
  if (!is_refused(v, status)) CHECK(equals(v, "context", context, sizeof context));
}

static void check_opening(const vector *v) {
  uint64_t max_age = has(v, "max_age") ? number(v, "max_age") : 0;
  const uint64_t *limit = has(v, "max_age") ? &max_age : NULL;
  slice what = text(v, "what");
  sealwax_opened opened;
  sealwax_identifier identifier;
  uint8_t payload[TOKEN];
  size_t len = 0;
  sealwax_status status;
  sealwax_view *view = view_of(v, &status);
  sealwax_purpose purpose = purpose_of(v);
  environment_stop_clock(has(v, "now_ms") ? number(v, "now_ms") : number(v, "now") * 1000);
  if (status == SEALWAX_OK) {
    if (is(what, "sealed"))
      status = sealwax_open(view, &purpose, limit, OF("token"), payload, sizeof payload, &len,
                            &opened, NULL);
    else if (is(what, "session_id"))
      status = sealwax_verify_session_id(view, OF("session_id"), limit, &identifier, NULL);
    else
      status = sealwax_verify_handle(view, OF("type"), OF("handle"), limit, &identifier, NULL);
  }
  const int refused = is_refused(v, status);
  if (!refused && is(what, "sealed")) {
    check_opened(v, "expect.", &opened, payload, len);
    CHECK(opened.needs_reseal == number(v, "expect.needs_reseal"));
  } else if (!refused) {
    CHECK(equals(v, "expect.ulid", identifier.ulid, sizeof identifier.ulid));
    CHECK(identifier.needs_reseal == number(v, "expect.needs_reseal"));
  }
  sealwax_view_free(view);
}

/* What no vector can say: NULL, a buffer that is a byte too small, and what is no text. (NULL, 0)
   is absent, and a pointer with the size 0 is empty. What is no UTF-8 is a client's fault in what
   it sent, and the caller's elsewhere. */
static void check_texts(void) {
  const sealwax_purpose purpose = {SEALWAX_KIND_SESSION, NULL, 0, NULL, 0, NULL, 0};
  sealwax_key *key;
  sealwax_ring *ring;
  sealwax_codec *codec;
  sealwax_view *view = NULL, *none = NULL;
  sealwax_error error;
  char token[256];
  uint8_t payload[5] = {0};
  size_t len, token_len;
  subject = "texts";
  CHECK(sealwax_key_generate(&key, NULL) == SEALWAX_OK);
  CHECK(sealwax_ring_new((const sealwax_key *const *)&key, 1, &ring, NULL) == SEALWAX_OK);
  CHECK(sealwax_codec_new(ring, TEXT("a"), NULL, &codec, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("alice"), &view, NULL) == SEALWAX_OK);
  CHECK(sealwax_view_new(codec, NULL, 0, TEXT(""), TEXT("alice"), &none, &error) ==
        SEALWAX_INVALID_ARGUMENT);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("\xff"), &none, &error) == SEALWAX_NOT_UTF8);
  CHECK(none == NULL && strstr(error.message, "UTF-8") != NULL);
  CHECK(sealwax_view_new(NULL, NULL, 0, NULL, 0, TEXT("alice"), &none, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, NULL, 1, &none, &error) == SEALWAX_NULL_POINTER);
  CHECK(sealwax_view_new(codec, NULL, 0, NULL, 0, TEXT("alice"), NULL, &error) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_open(view, &purpose, NULL, TEXT("sw1.\xff"), NULL, 0, &len, NULL, NULL) ==
        SEALWAX_MALFORMED);
  CHECK(sealwax_open(view, &purpose, NULL, TEXT("sw1."), NULL, 0, NULL, NULL, NULL) ==
        SEALWAX_NULL_POINTER);
  CHECK(sealwax_seal(view, &purpose, NULL, (const uint8_t *)"hello", 5, token, sizeof token,
                     &token_len, NULL) == SEALWAX_OK);
  CHECK(sealwax_open(view, &purpose, NULL, token, token_len, payload, 4, &len, NULL, NULL) ==
        SEALWAX_BUFFER_TOO_SMALL);
  CHECK(len == 5 && payload[0] == 0 && payload[4] == 0);
  sealwax_view_free(view);
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
  sealwax_key_free(key);
}

int main(void) {
  struct {
    const char *name;
    void (*check)(const vector *v);
    int ran;
  } sections[] = {{"keys", check_key, 0},
                  {"key_rings", check_key_ring, 0},
                  {"derived", check_derived, 0},
                  {"environments", check_environment, 0},
                  {"sealed", check_sealed, 0},
                  {"session_ids", check_session_id, 0},
                  {"handles", check_handle, 0},
                  {"request_contexts", check_request_context, 0},
                  {"request_context_reject", check_request_context, 0},
                  {"accept", check_opening, 0},
                  {"reject", check_opening, 0}};
  const size_t count = sizeof sections / sizeof *sections;
  static char line[LINE];
  check_texts();
  while (fgets(line, LINE, stdin) != NULL) {
    CHECK(strchr(line, '\n') != NULL);
    vector v = parse(line);
    size_t at = 0;
    while (at < count && strcmp(sections[at].name, v.section) != 0) at++;
    CHECK(at < count);
    char name[64];
    snprintf(name, sizeof name, "%s: %.*s", v.section, (int)text(&v, "id").len,
             has(&v, "id") ? text(&v, "id").data : "");
    subject = name;
    environment_reset();
    sections[at].check(&v);
    sections[at].ran++;
  }
  for (size_t i = 0; i < count; i++) {
    CHECK(sections[i].ran > 0);
    printf("%s %d%s", sections[i].name, sections[i].ran, i + 1 < count ? ", " : "\n");
  }
  return 0;
}
