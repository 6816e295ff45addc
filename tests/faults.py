"""Shows that the vectors earn their keep: each of these faults in the core makes some test of data fail.

Usage: python3 tests/faults.py DIR PYTHON [EVERY], where DIR is scratch space that may be kept between runs, PYTHON has a
Valkey, and of EVERY so many faults the first is made, but each is looked for in the sources.
"""

import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# A check dropped, swapped, or off by one: file, what stands there, what a slip would have made of it.
FAULTS = [
    ("format/pae.rs", "(pieces.len() as u64)", "(1 + pieces.len() as u64)"),
    ("format/pae.rs", "(piece.len() as u64).to_le_bytes()", "(piece.len() as u64).to_be_bytes()"),
    ("format/key.rs", 'expand(&prk, b"id")', 'expand(&prk, b"seal")'),
    ("format/key.rs", "secret.len() < SECRET_LEN", "secret.len() <= SECRET_LEN"),
    ("format/key.rs", "if !bool::from(sum.ct_eq(&checksum(secret)))", "if false"),
    ("ring.rs", "c == ',' || c.is_ascii_whitespace()", "c == ','"),
    ("ring.rs", "keys.len() > MAX_KEYS", "keys.len() > MAX_KEYS + 1"),
    ("ring.rs", "known.id() == id", "false"),
    ("ring.rs", "if keys.is_empty()", "if false"),
    ("principal.rs", "parts.client.is_none() && parts.subject.is_none()", "false"),
    ("format/holder.rs", '[b"principal", issuer, client, subject]', '[b"principal", client, issuer, subject]'),
    ("format/holder.rs", "(at, &self.keys[at], &self.tags[at])", "(at, &self.keys[at], &self.tags[0])"),
    ("format/text.rs", "text.len() > FIELD_LIMIT", "text.len() > FIELD_LIMIT + 1"),
    ("format/text.rs", "if text.is_empty()", "if false"),
    ("format/text.rs", "found > limit", "found > limit + 1"),
    (
        "format/purpose.rs",
        "Self::Cursor | Self::HandleState => needs(Must, Never, Never)",
        "Self::Cursor | Self::HandleState => needs(May, Never, Never)",
    ),
    ("format/purpose.rs", "Self::State => needs(Never, Must, Never)", "Self::State => needs(Never, May, Never)"),
    ("format/purpose.rs", "Self::State => needs(Never, Must, Never)", "Self::State => needs(Never, Must, May)"),
    (
        "format/purpose.rs",
        "Self::RequestState => needs(Never, Never, Must)",
        "Self::RequestState => needs(Never, Never, May)",
    ),
    ("format/purpose.rs", "0 | 32", "0..=32"),
    ("format/sealed.rs", 'at_most("token", text.len(), max_text_len(limit))?;', ""),
    ("format/sealed.rs", "token.len() >= MIN_LEN", "token.len() >= MIN_LEN - 1"),
    ("format/sealed.rs", "purpose.label.as_bytes()", 'b""'),
    ("format/sealed.rs", "purpose.session_id.as_bytes()", 'b""'),
    ("format/sealed.rs", "        purpose.context,", '        b"",'),
    ("format/sealed.rs", "        audience.as_bytes(),", '        b"",'),
    ("format/sealed.rs", "if kind == expected", "if true"),
    ("format/cipher/by_rustcrypto.rs", "opened.map_err(|_| Error::Unauthentic)", "opened.or(Ok(()))"),
    ("format/sealed.rs", "if !bool::from(tag.ct_eq(expected_tag))", "if false"),
    ("format/sealed.rs", "needs_reseal: at > 0", "needs_reseal: at == 0"),
    ("format/sealed.rs", "self.ttl != 0", "true"),
    ("format/sealed.rs", "self.issued_at.saturating_sub(self.age.into())", "self.issued_at"),
    ("format/clock.rs", "now >= *end", "now > *end"),
    ("format/clock.rs", "issued > now.saturating_add", "issued >= now.saturating_add"),
    ("format/clock.rs", "self.skew.as_secs() * unit", "u64::MAX"),
    ("format/ulid.rs", "max_age.saturating_mul(1000)", "max_age"),
    ("format/session_id.rs", 'at_most("session id", text.len(), IDENTIFIER_LIMIT)?;', ""),
    ("format/session_id.rs", "if !bool::from(mac.ct_eq(&signature(key, holder.audience, signed)))", "if false"),
    ("format/session_id.rs", ".ct_eq(&expected))", ".ct_ne(&expected))"),
    ("session_id.rs", "needs_reseal: at > 0", "needs_reseal: false"),
    ("format/handle.rs", 'at_most("handle", text.len(), IDENTIFIER_LIMIT)?;', ""),
    ("format/handle.rs", "if found != handle_type", "if false"),
    ("format/handle.rs", "mac.ct_eq(&expected).into()", "true"),
    ("format/handle.rs", "&& !RESERVED_TYPES.contains(&text)", ""),
    (
        "format/handle.rs",
        'symbols: "0123456789abcdefghjkmnpqrstvwxyz"',
        'symbols: "0123456789abcdefghjkmnpqrstvwxyz", translate_from: "oOilIL", translate_to: "001111"',
    ),
    ("format/context.rs", 'text::require("target", target)?;', ""),
    (
        "format/context.rs",
        "&[method.as_bytes(), target.as_bytes(), &arguments]",
        "&[target.as_bytes(), method.as_bytes(), &arguments]",
    ),
    # What is hashed as it stands.
    ("format/context.rs", "None if canonical::is_canonical(arguments)", "_ if canonical::is_canonical(arguments)"),
    ("format/context.rs", "None if canonical::is_canonical(arguments)", "None if !arguments.is_empty()"),
    ("format/canonical.rs", "MAX_DIGITS: usize = 15", "MAX_DIGITS: usize = 16"),
    ("format/canonical.rs", "(more < MAX_DIGITS)", "(more <= MAX_DIGITS)"),
    ("format/canonical.rs", "text.starts_with(['{', '['])", "true"),
    ("format/canonical.rs", "&& rest.0.is_empty()", ""),
    ("format/canonical.rs", "value(MAX_LEVELS)", "value(MAX_LEVELS + 1)"),
    ("format/canonical.rs", "value(MAX_LEVELS)", "value(MAX_LEVELS - 1)"),
    ("format/canonical.rs", "self.members(levels.checked_sub(1)?)", "self.members(levels)"),
    ("format/canonical.rs", "self.items(levels.checked_sub(1)?)", "self.items(levels)"),
    ("format/canonical.rs", "b'0' => Some(())", "b'0' => self.digits()"),
    (
        "format/canonical.rs",
        "                b'1'..=b'9' => self.digits(),",
        "                b'0'..=b'9' => self.digits(),",
    ),
    ("format/canonical.rs", "!key.is_ascii() || ", ""),
    ("format/canonical.rs", "key <= last", "key < last"),
    ("format/canonical.rs", "key <= last", "key.len() < <[u8]>::len(last)"),
    ("format/canonical.rs", "last = Some(key);", ""),
    ("format/canonical.rs", "b'\"' | b'\\\\' | ..b' '", "b'\"' | ..b' '"),
    ("format/canonical.rs", "b'\"' | b'\\\\' | ..b' '", "b'\"' | b'\\\\'"),
    ("format/canonical.rs", "| ..b' '", "| ..b'\\x1f'"),
    ("format/canonical.rs", 'b"ull"', 'b"ul"'),
    (
        "format/canonical.rs",
        "                b',' => {}\n                b']' => return Some(()),",
        "                b',' if self.0.first() != Some(&b']') => {}\n                _ => return Some(()),",
    ),
    ("format/json.rs", "value.abs() < FIRST_INEXACT", "value.abs() <= FIRST_INEXACT"),
    ("format/json.rs", "number(value < FIRST_INEXACT", "number(value <= FIRST_INEXACT"),
    ("format/json.rs", "        self.reading.plain.set(false);\n        #[expect", "        #[expect"),
    ("format/json.rs", "get() && key.is_ascii()", "get()"),
    ("format/json.rs", "MAX_LEVELS: usize = 100", "MAX_LEVELS: usize = 101"),
    ("format/json.rs", "MAX_LEVELS: usize = 100", "MAX_LEVELS: usize = 99"),
    ("format/json.rs", "if object.contains_key(&key)", "if false && object.contains_key(&key)"),
    ("format/json.rs", "reader.end().map(|()| value)", "Ok(value)"),
    ("format/json.rs", "&& plain {", "&& true {"),
    ("format/json.rs", "if value.is_null() {", "if false {"),
    ("format/json.rs", "if only.is_some() && value", "if false && value"),
    ("format/json.rs", "self.levels == MAX_LEVELS", "true"),
    ("format/json.rs", "skipping.set(true)", "skipping.set(false)"),
    ("format/json.rs", "skipping.set(false);", "skipping.set(true);"),
    ("environment.rs", "*byte ^= time;", "*byte |= time;"),
    ("environment.rs", "*byte ^= time;", "let _ = (byte, time);"),
    ("environment.rs", "nanoseconds.to_le_bytes()", "nanoseconds.to_be_bytes()"),
    ("system.rs", "mix_time(bytes, since_1970().as_nanos());", "let _ = mix_time;"),
    ("principal.rs", "claims.iss.is_none() || claims.sub.is_none()", "claims.sub.is_none()"),
    ("principal.rs", "claims.iss.is_none() || claims.sub.is_none()", "claims.iss.is_none()"),
    ("principal.rs", "claims.client_id.or(claims.azp)", "claims.azp.or(claims.client_id)"),
    ("token.rs", "u64::from(claims.ttl).div_ceil(2)", "u64::from(claims.ttl) / 2"),
    ("token.rs", "claims.ttl != 0 && over", "over"),
    ("token.rs", "contents.needs_reseal || is_half_over", "is_half_over"),
    ("mcp/carried.rs", '.ends_with("/list")', '.contains("/list")'),
    ("mcp/carried.rs", 'method == "resources/directory/read"', "false"),
    ("mcp/carried.rs", 'Some(request_state("uri"))', 'Some(request_state("name"))'),
    # Who asks, and what is told of a refusal.
    ("mcp/context.rs", "end.saturating_add(LARGEST_SKEW)", "end"),
    (
        "mcp/context.rs",
        "Self::NotAccepted | Self::Ledger(..)",
        "Self::NotAccepted => false,\n            Self::Ledger(..)",
    ),
    (
        "mcp/context.rs",
        "Self::Unsealed(_) | Self::AcceptUnavailable(_) | Self::LedgerUnavailable(_) => false",
        "_ => true",
    ),
    ("mcp/context.rs", "end.div_ceil(1000)", "end / 1000"),
    ("mcp/context.rs", "about.id.or_else(|| token_id(about.token?))", "about.id"),
    # What a request carries.
    ("mcp/request/mod.rs", ".filter(|_| !message.notification)", ""),
    ("mcp/request/mod.rs", "(has_token || carries.kind == Kind::RequestState)", "has_token"),
    (
        "mcp/request/mod.rs",
        "Err(error) => return Ok(self.refuse_carried(context, carries, error.into())),",
        "Err(_) => {}",
    ),
    ("mcp/asking.rs", "asks && !self.tokens.is_empty()", "asks && self.tokens.len() > 1"),
    ("mcp/request/mod.rs", "tokens.push(session.asked(&view, state.sent()));", "let _ = (session, view, state);"),
    ("mcp/request/mod.rs", "token.presented.public = true;", "token.presented.public = false;"),
    ("mcp/request/mod.rs", 'arguments.filter(|_| carries.target == Some("name"))', "arguments"),
    ("mcp/request/mod.rs", "only.iter().find(|(named, _)| named == target)", "only.first()"),
    ("mcp/request/mod.rs", 'Some((_, names)) if carries.target == Some("name") =>', "Some((_, names)) =>"),
    ("mcp/request/mod.rs", "self.state.clone_from(&deliver.carried);", ""),
    ("mcp/request/leaving.rs", "(carries.kind == Kind::Cursor || left.outcome == Outcome::InputRequired)", "true"),
    ("mcp/request/leaving.rs", "== Some(Scope::Public) && !leave.private", "== Some(Scope::Public)"),
    ("mcp/request/leaving.rs", "Kind::Cursor if public => None,", ""),
    ("mcp/request/leaving.rs", "if left.outcome == Outcome::Error", "if false"),
    (
        "mcp/request/leaving.rs",
        "let payload = token.text().ok_or_else",
        'let payload = Some(token.text().unwrap_or("")).ok_or_else',
    ),
    (
        "mcp/request/leaving.rs",
        "Some(ttl) => view.request_state(bound).ttl(ttl),",
        "Some(_) => view.request_state(bound),",
    ),
    ("mcp/request/mod.rs", "at >= asked_first", "at > asked_first"),
    ("mcp/request/mod.rs", "carries != Some(Kind::RequestState)", "false"),
    ("mcp/request/mod.rs", "sessions.is_some() && declares(&self.method);", "false;"),
    ("mcp/request/leaving.rs", "sessions.is_some() && declares(&self.method);", "false;"),
    # Data-layer sessions.
    ("mcp/request/sessions.rs", "self.method == DELETE && !context.guard.settings().remembers()", "false"),
    ("mcp/request/sessions.rs", "let required =\n                !self.notification &&", "let required ="),
    ("mcp/request/sessions.rs", "if required || self.method == DELETE", "if self.method == DELETE"),
    ("mcp/request/sessions.rs", "id.sent() != Sent::Text(header)", "false"),
    ("mcp/request/sessions.rs", "self.header.as_deref().filter(|_| self.modern)", "self.header.as_deref()"),
    ("mcp/request/leaving.rs", "leave.private = self.session.is_some();", ""),
    ("mcp/request/leaving.rs", "left.no_meta && session.is_written()", "false"),
    ("mcp/request/sessions.rs", "id.created_at_ms(), Ask::End)", "id.created_at_ms(), Ask::Rule)"),
    ("mcp/request/mod.rs", "let running = matches!(self.phase, Phase::Delivered) &&", "let running ="),
    ("mcp/request/mod.rs", "&& !is_list(&self.method)", ""),
    (
        "mcp/request/mod.rs",
        "        if self.notification {\n            return Err",
        "        if false {\n            return Err",
    ),
    ("mcp/session.rs", "if state == Sent::Other", "if false"),
    ("mcp/session.rs", "self.is_written() || (renews && opened.state().needs_renewal())", "self.is_written()"),
    (
        "mcp/session.rs",
        "self.is_written() || (renews && opened.state().needs_renewal())",
        "opened.state().needs_renewal()",
    ),
    ("mcp/guard.rs", "None if self.no_expiry => view.sessions().no_expiry(),", ""),
    ("mcp/guard.rs", "Some(ttl) => view.sessions().ttl(ttl),", "Some(_) => view.sessions(),"),
    ("mcp/guard.rs", '(method == "tools/call" && target', "(target"),
    ("mcp/guard.rs", 'method.ends_with("/list")', "false"),
    # Sessions of the transport.
    ("mcp/transport.rs", "if ends && !remembers", "if false"),
    ("mcp/transport.rs", "transport.required && self.http.is_some()", "transport.required"),
    ("mcp/transport.rs", "(header, inside) if header == inside => header,", "(header, _) => header,"),
    ("mcp/transport.rs", "if terminates && self.notification", "if false"),
    ("mcp/transport.rs", "PrincipalMismatch) if transport.sep1359 && remembers", "PrincipalMismatch) if remembers"),
    ("mcp/transport.rs", "version.is_some_and(|version| version != negotiated.protocol_version)", "false"),
    ("mcp/transport.rs", "version: version.is_none().then_some(", "version: Some("),
    ("mcp/transport.rs", "stamp: self.inside.sent().text().map(Into::into),", ""),
    ("mcp/transport.rs", "transport.sep1359.then(|| life", "Some(()).map(|()| life"),
    ("mcp/transport.rs", "let in_message = inside != Sent::Absent && request;", "let in_message = false;"),
    ("mcp/transport/negotiated.rs", 'at_most("session", token.len(), LIMIT)?;', ""),
    ("mcp/transport/negotiated.rs", "view.session().max_age(max_age).open", "view.session().open"),
    ("mcp/transport/negotiated.rs", "Some(ttl) => view.session().ttl(ttl),", "Some(_) => view.session(),"),
    ("mcp/transport.rs", ".unwrap_or(own).min(limit)", ".unwrap_or(own)"),
    ("mcp/transport.rs", 'Some("initialize"), Some(result)) if begins =>', 'Some("initialize"), Some(result)) =>'),
    # Handles.
    ("mcp/act.rs", "if !settings.remembers()", "if false"),
    ("mcp/act.rs", "Some(max_age) => sealer.max_age(max_age),", "Some(_) => sealer,"),
    ("mcp/act.rs", "self.text()?, self.max_age)?", "self.text()?, None)?"),
    ("mcp/act.rs", "if reason.is_refusal() { -32602 }", "if true { -32602 }"),
    (
        "mcp/act.rs",
        "renew_from(before.started_at, before.generation,",
        "renew_from(before.started_at, before.generation - 1,",
    ),
    # An exchange.
    ("mcp/exchange.rs", "(Flow::Request(request), Step::Reply(_)) if request.is_notification() => Step::Drop,", ""),
    ("mcp/answer.rs", "session_id.filter(|id| is_well_formed(id))?", "session_id?"),
]

# The same of what the ledger remembers: its judgement, its scripts, and when it is asked.
LEDGER_FAULTS = [
    # A second use, in order: not seen, by the first one's own retry, over by the store's clock.
    ("ledger/judge.rs", 'Some(_) => return Err(refuse("used")),', "Some(_) => {}"),
    ("ledger/judge.rs", "Some(by) if by == attempt => {}", ""),
    ("ledger/judge.rs", 'until if until <= self.now => return Err(refuse("expired")),', ""),
    # The fence.
    ("ledger/judge.rs", "None if issued <= fence.since.saturating_add(allowance)", "None if false"),
    ("ledger/judge.rs", "fence.since.saturating_add(allowance)", "fence.since.saturating_sub(allowance)"),
    ("ledger/judge.rs", "if !lost && now >= last =>", "if !lost =>"),
    ("ledger/judge.rs", "kept.is_some_and(|(_, last)| last > far)", "false"),
    ("ledger/judge.rs", "|(since, _)| since.max(now)", "|_| now"),
    ("ledger/judge.rs", "mark.saturating_add(allowance)", "mark.saturating_sub(allowance)"),
    # What is spent unless all pass; what ended; what is tried again; how long a head lives.
    ("ledger/judge.rs", "self.writes.truncate(before);", ""),
    ("ledger/judge.rs", 'if self.values[1].is_some() {\n            return Ok(one("ended"));\n        }', ""),
    (
        "ledger/judge.rs",
        "// An earlier try has written this state.\n            Some(head) if head.token == token => {}",
        "",
    ),
    ("ledger/judge.rs", "before => before.max(head.until),", "_ => head.until,"),
    (
        "ledger/namespace.rs",
        '"{}:{what}:{}:{id}", self.0, tag.letter()',
        "\"{}:{what}:{}:{id}\", self.0, { let _ = tag; 'r' }",
    ),
    # When it is asked.
    ("mcp/asking.rs", "Err(_) if !self.tried =>", "Err(_) if false =>"),
    ("mcp/asking.rs", "Err(Failed(why)) => Err((0, Reason::LedgerUnavailable(why))),", "Err(_) => Ok(()),"),
    (
        "mcp/request/leaving.rs",
        'Some("stale"), [_, token, generation, state]) if !committing.tried =>',
        'Some("stale"), [_, token, generation, state]) =>',
    ),
    ("mcp/request/leaving.rs", "left.outcome == Outcome::InputRequired && guard.settings().ledger.is_some()", "false"),
    # A renewal that does not commit.
    (
        "mcp/request/leaving.rs",
        "let (seen, generation) = session.seen()?;",
        "let (seen, generation) = session.seen().filter(|_| session.is_written())?;",
    ),
]
SCRIPT_FAULTS = [
    ("admit.lua", "if user and user ~= attempt then", "if false then"),
    ("admit.lua", "if user and user ~= attempt then", "if user then"),
    ("admit.lua", "if till ~= 0 and till <= now then", "if false then"),
    ("admit.lua", "if issued <= since + allowance then", "if false then"),
    ("admit.lua", "issued <= since + allowance", "issued <= since - allowance"),
    ("admit.lua", "issued <= began + allowance", "issued <= began - allowance"),
    ("admit.lua", "started <= mark + allowance", "started <= mark - allowance"),
    ("admit.lua", "issued > now + allowance", "issued > now - allowance"),
    # The fence is looked at when the ledger is opened alone.
    (
        "admit.lua",
        "local began, since = fence()",
        "local began, since = number(KEYS[1]) or now, tonumber(string.match(redis.call('GET', KEYS[2]) or '0', '%d+') or 0)",
    ),
    ("prelude.lua", "or of ~= run or now < last", "or now < last"),
    ("prelude.lua", "or of ~= run or now < last", "or of ~= run"),
    ("prelude.lua", "last > now + 300", "false"),
    ("prelude.lua", "math.max(since or 0, now, of ~= run and last or 0)", "now"),
    ("prelude.lua", "began = math.max(began or 0, now)", "began = now"),
    # It is written at once, whatever comes later.
    (
        "prelude.lua",
        "writes[#writes + 1] = { key, value, till }",
        "writes[#writes + 1] = { key, value, till }\n  redis.call('SET', key, value or '')",
    ),
    ("prelude.lua", "elseif before and before.till > till then", "elseif false then"),
    ("prelude.lua", "redis.call('SET', key, value, 'EXAT', digits(till))", "redis.call('SET', key, value)"),
    ("commit.lua", "if redis.call('GET', KEYS[2]) then", "if false then"),
    ("commit.lua", "if current.token == token then", "if false then"),
    ("commit.lua", "current.generation < generation", "false"),
    ("revoke.lua", "math.max(number(KEYS[1]) or 0, now)", "now"),
]

ROOT = pathlib.Path(__file__).resolve().parent.parent


# The tests that read data, by what they hold.
CODEC = ["vectors", "requests", "contexts", "sessions", "keys"]
GUARD = ["guard", "engine", "exchange"]


LEDGER = ["ledger", "ledger_vectors"]

#: How many are tried at a time.
SHARES = 2

# Of some files a test of their own.
OWN = {"format/canonical.rs": ["canonical"], "environment.rs": ["clones"], "system.rs": ["clones"]}


def tests_fail(copy: pathlib.Path, names: list[str]) -> bool:
    tests = [f"--test={name}" for name in names]
    command = ["cargo", "test", "--quiet", "--offline", "--features", "hazmat,documents", *tests]
    # Nobody reads these in a debugger, and they are linked hundreds of times.
    environment = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "0"}
    run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0 and "test result: FAILED" not in run.stdout:
        raise OSError(f"it does not compile:\n{run.stderr[-2000:]}")
    return run.returncode != 0


def scripts_fail(copy: pathlib.Path, python: str) -> bool:
    run = subprocess.run([python, copy / "tests/ledger/scripts.py"], capture_output=True, text=True, check=False)
    if run.returncode != 0 and " failed\n" not in run.stdout:
        raise OSError(f"the scripts were not tried:\n{run.stderr[-2000:]}")
    return run.returncode != 0


def tests_of(name: str) -> list[str]:
    if name in OWN:
        return OWN[name]
    return GUARD if name.startswith("mcp/") and name != "mcp/carried.rs" else CODEC


def prepared(copy: pathlib.Path) -> pathlib.Path:
    """Return a folder with the core alone, of the workspace."""
    for name in ["src", "tests"]:
        shutil.copytree(ROOT / name, copy / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "Cargo.lock", copy)
    shutil.copy(ROOT / "README.md", copy)
    manifest = (ROOT / "Cargo.toml").read_text()
    members = manifest[manifest.index("members =") :].split("\n", 1)[0]
    (copy / "Cargo.toml").write_text(manifest.replace(members, ""))
    return copy


def unseen(copy: pathlib.Path, python: str, faults: list[tuple[str, str, str]]) -> list[str]:
    """Make each of the faults; return what is to be said of those that no test sees."""
    copy = prepared(copy)
    if tests_fail(copy, [*CODEC, *GUARD, *LEDGER, "canonical", "clones"]) or scripts_fail(copy, python):
        return ["the tests fail without any fault"]
    found = []
    for name, right, wrong in faults:
        file = copy / "src" / name
        source = (ROOT / "src" / name).read_text()
        file.write_text(source.replace(right, wrong))
        fault = f"src/{name}: {right}  ->  {wrong}"
        try:
            if name.endswith(".lua"):
                is_seen = scripts_fail(copy, python)
            else:
                is_seen = tests_fail(copy, LEDGER if (name, right, wrong) in LEDGER_FAULTS else tests_of(name))
            if not is_seen:
                found.append(f"no test sees {fault}")
        except OSError as error:
            found.append(f"{fault}: {error}")
        file.write_text(source)
    return found


def main(scratch: pathlib.Path, python: str, every: int = 1) -> None:
    faults = [*FAULTS, *LEDGER_FAULTS, *((f"ledger/{name}", *fault) for name, *fault in SCRIPT_FAULTS)]
    missed = [
        f"src/{name} has no longer: {right}"
        for name, right, _ in faults
        if right not in (ROOT / "src" / name).read_text()
    ]
    if not missed:
        tried = faults[::every]
        # Most of the time one compiler works alone; but what they compile first is worth it for many only.
        at_once = SHARES if every == 1 else 1
        with ThreadPoolExecutor() as threads:
            shares = [
                threads.submit(unseen, scratch / f"faults-{n}", python, tried[n::at_once]) for n in range(at_once)
            ]
            missed = [fault for share in shares for fault in share.result()]
        print(f"{len(tried) - len(missed)} passed, {len(missed)} failed; all {len(faults)} are in the sources")
    for fault in missed:
        print(fault)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
