/* One language of the interop run: a request a line on stdin, its answer a line on stdout. */
#define _POSIX_C_SOURCE 200809L
#include "slice.h"

enum {
  OP,
  RING,
  AUDIENCE,
  PRINCIPAL,
  KIND,
  LABEL,
  SESSION_ID,
  CONTEXT,
  TTL,
  PAYLOAD,
  TOKEN,
  MAX_AGE
};
enum { FIELDS = MAX_AGE + 1, ROOM = 1 << 16 };

static slice field[FIELDS];
static char out[ROOM];
static size_t len;

static void parse(char *line) {
  for (int i = 0; i < FIELDS; i++, line++) {
    const int plain = i == OP || i == KIND || i == TTL || i == MAX_AGE;
    slice value = {line, strcspn(line, "\t\n")};
    line += value.len;
    *line = '\0';
    field[i] = plain || is(value, "anonymous") ? value : unhex(value);
  }
}

/* The next part of a principal, up to a NUL; an empty one is absent. */
static slice part(slice *rest) {
  const char *end = (const char *)memchr(rest->data, '\0', rest->len);
  slice found = {rest->data, end == NULL ? rest->len : (size_t)(end - rest->data)};
  const size_t taken = found.len + (end != NULL);
  rest->data += taken;
  rest->len -= taken;
  return present(found);
}

static sealwax_status make_view(sealwax_view **view) {
  sealwax_ring *ring = NULL;
  sealwax_codec *codec = NULL;
  slice rest = field[PRINCIPAL];
  sealwax_status status = sealwax_ring_parse(field[RING].data, field[RING].len, &ring, NULL);
  if (status == SEALWAX_OK)
    status = sealwax_codec_new(ring, field[AUDIENCE].data, field[AUDIENCE].len, NULL, &codec, NULL);
  if (status == SEALWAX_OK && is(rest, "anonymous")) {
    status = sealwax_view_new_anonymous(codec, view, NULL);
  } else if (status == SEALWAX_OK) {
    slice issuer = part(&rest), client = part(&rest), subject = part(&rest);
    status = sealwax_view_new(codec, issuer.data, issuer.len, client.data, client.len, subject.data,
                              subject.len, view, NULL);
  }
  sealwax_codec_free(codec);
  sealwax_ring_free(ring);
  return status;
}

static const sealwax_lifetime *lifetime(void) {
  static sealwax_lifetime given;
  given.no_expiry = is(field[TTL], "none");
  given.ttl = given.no_expiry ? 0 : strtoull(field[TTL].data, NULL, 10);
  return field[TTL].len == 0 ? NULL : &given;
}

static int op(const char *name) { return is(field[OP], name); }

static sealwax_status reply_text(sealwax_status status) {
  if (status == SEALWAX_OK) printf("ok\t%.*s\n", (int)len, out);
  return status;
}

static sealwax_status sealed(const sealwax_view *view) {
  const slice label = field[LABEL], id = present(field[SESSION_ID]), token = field[TOKEN],
              context = present(field[CONTEXT]);
  const sealwax_purpose purpose = {kind_of(field[KIND]), label.data, label.len, id.data, id.len,
                                   bytes(context),       context.len};
  const uint64_t max_age = strtoull(field[MAX_AGE].data, NULL, 10);
  const uint64_t *limit = field[MAX_AGE].len == 0 ? NULL : &max_age;
  const slice payload = field[PAYLOAD];
  sealwax_opened opened;
  if (op("seal"))
    return reply_text(sealwax_seal(view, &purpose, lifetime(), bytes(payload), payload.len, out,
                                   ROOM, &len, NULL));
  sealwax_status status = sealwax_open(view, &purpose, limit, token.data, token.len, (uint8_t *)out,
                                       ROOM, &len, &opened, NULL);
  if (status == SEALWAX_OK && op("renew"))
    return reply_text(sealwax_renew(view, &purpose, lifetime(), &opened, bytes(payload),
                                    payload.len, out, ROOM, &len, NULL));
  if (status == SEALWAX_OK) {
    printf("ok\t");
    print_hex(out, len);
    printf("\t%u\t%d\t", (unsigned)opened.generation, opened.needs_reseal);
    print_hex(opened.token_id, sizeof opened.token_id);
    printf("\n");
  }
  return status;
}

static sealwax_status identified(const sealwax_view *view) {
  const slice type = field[LABEL], text = field[TOKEN];
  const uint64_t max_age = strtoull(field[MAX_AGE].data, NULL, 10);
  const uint64_t *limit = field[MAX_AGE].len == 0 ? NULL : &max_age;
  sealwax_identifier found;
  sealwax_status status;
  if (op("mint-session-id"))
    return reply_text(sealwax_mint_session_id(view, out, ROOM, &len, NULL, NULL));
  if (op("mint-handle"))
    return reply_text(sealwax_mint_handle(view, type.data, type.len, out, ROOM, &len, NULL, NULL));
  if (op("verify-session-id"))
    status = sealwax_verify_session_id(view, text.data, text.len, limit, &found, NULL);
  else
    status =
        sealwax_verify_handle(view, type.data, type.len, text.data, text.len, limit, &found, NULL);
  if (status == SEALWAX_OK)
    printf("ok\t%llu\t%d\n", (unsigned long long)found.created_at_ms, found.needs_reseal);
  return status;
}

static sealwax_status session(const sealwax_view *view) {
  const slice payload = field[PAYLOAD], metadata = field[TOKEN];
  sealwax_session *opened = NULL;
  sealwax_opened facts;
  if (op("session-create"))
    return reply_text(sealwax_session_create(view, lifetime(), bytes(payload), payload.len, out,
                                             ROOM, &len, NULL));
  sealwax_status status = sealwax_session_open(view, metadata.data, metadata.len, &opened, NULL);
  if (status == SEALWAX_OK && op("session-renew")) {
    status = reply_text(sealwax_session_renew(view, lifetime(), opened, bytes(payload), payload.len,
                                              out, ROOM, &len, NULL));
  } else if (status == SEALWAX_OK && op("session-fork")) {
    status = reply_text(sealwax_session_fork(view, lifetime(), opened, out, ROOM, &len, NULL));
  } else if (status == SEALWAX_OK) {
    status = sealwax_session_payload(opened, (uint8_t *)out, ROOM, &len, &facts, NULL);
    printf("ok\t");
    print_hex(out, len);
    printf("\t%u\n", (unsigned)facts.generation);
  }
  sealwax_session_free(opened);
  return status;
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    parse(line);
    sealwax_view *view = NULL;
    sealwax_status status;
    if ((status = make_view(&view)) == SEALWAX_OK)
      status = strstr(field[OP].data, "session-") == field[OP].data ? session(view)
               : op("seal") || op("open") || op("renew")            ? sealed(view)
                                                                    : identified(view);
    if (status != SEALWAX_OK) printf("error\t%s\n", sealwax_code(status));
    fflush(stdout);
    sealwax_view_free(view);
  }
  free(line);
  return 0;
}
