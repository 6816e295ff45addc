"""Shows that the vectors earn their keep: each of these faults in the core makes some test of data fail.

Usage: python3 tests/faults.py DIR, where DIR is scratch space that may be kept between runs.
"""

import pathlib
import shutil
import subprocess
import sys

# A check dropped, swapped, or off by one: file, what stands there, what a slip would have made of it.
FAULTS = [
    ("pae.rs", "(pieces.len() as u64)", "(1 + pieces.len() as u64)"),
    ("pae.rs", "(piece.len() as u64).to_le_bytes()", "(piece.len() as u64).to_be_bytes()"),
    ("key.rs", 'expand(&prk, b"id")', 'expand(&prk, b"seal")'),
    ("key.rs", "secret.len() < SECRET_LEN", "secret.len() <= SECRET_LEN"),
    ("key.rs", "if !bool::from(sum.ct_eq(&checksum(secret)))", "if false"),
    ("ring.rs", "c == ',' || c.is_ascii_whitespace()", "c == ','"),
    ("ring.rs", "ring.len() == MAX_KEYS", "ring.len() > MAX_KEYS"),
    ("ring.rs", "known.id() == key.id()", "false"),
    ("ring.rs", "if ring.is_empty()", "if false"),
    ("principal.rs", "parts.client.is_none() && parts.subject.is_none()", "false"),
    ("principal.rs", '[b"principal", issuer, client, subject]', '[b"principal", client, issuer, subject]'),
    ("text.rs", "text.len() > LIMIT", "text.len() > LIMIT + 1"),
    ("text.rs", "if text.is_empty()", "if false"),
    (
        "purpose.rs",
        "Self::Cursor | Self::HandleState => [Must, Never, Never]",
        "Self::Cursor | Self::HandleState => [May, Never, Never]",
    ),
    ("purpose.rs", "Self::State => [Never, Must, Never]", "Self::State => [Never, May, Never]"),
    ("purpose.rs", "Self::State => [Never, Must, Never]", "Self::State => [Never, Must, May]"),
    ("purpose.rs", "Self::RequestState => [Never, Never, Must]", "Self::RequestState => [Never, Never, May]"),
    ("purpose.rs", "0 | 32", "0..=32"),
    ("sealed.rs", "text.len() > limit", "text.len() > limit + 1"),
    ("sealed.rs", "token.len() >= MIN_LEN", "token.len() >= MIN_LEN - 1"),
    ("sealed.rs", "purpose.label.as_bytes()", 'b""'),
    ("sealed.rs", "purpose.session_id.as_bytes()", 'b""'),
    ("sealed.rs", "        purpose.context,", '        b"",'),
    ("sealed.rs", "        audience.as_bytes(),", '        b"",'),
    ("sealed.rs", "if kind != expected", "if false"),
    ("cipher.rs", "opened.map_err(|_| Error::Unauthentic)", "opened.or(Ok(()))"),
    ("sealed.rs", "if !bool::from(tag.ct_eq(&view.tags()[at]))", "if false"),
    ("sealed.rs", "needs_reseal: at > 0", "needs_reseal: at == 0"),
    ("sealed.rs", "self.ttl != 0", "true"),
    ("sealed.rs", "self.issued_at.saturating_sub(self.age.into())", "self.issued_at"),
    ("clock.rs", "now >= end", "now > end"),
    ("clock.rs", "issued > now.saturating_add(skew)", "issued >= now.saturating_add(skew)"),
    ("clock.rs", "if issued > now.saturating_add(skew)", "if false"),
    ("ulid.rs", "max_age.saturating_mul(1000)", "max_age"),
    ("session_id.rs", "text.len() > LIMIT", "text.len() > LIMIT + 1"),
    ("session_id.rs", "if !bool::from(mac.ct_eq(&signature(key, codec, signed)))", "if false"),
    ("session_id.rs", ".ct_eq(&expected))", ".ct_ne(&expected))"),
    ("session_id.rs", "needs_reseal: at > 0", "needs_reseal: false"),
    ("handle.rs", "text.len() > LIMIT", "text.len() > LIMIT + 3"),
    ("handle.rs", "if found != handle_type", "if false"),
    ("handle.rs", ".position(|expected| mac.ct_eq(&expected).into())", ".position(|_| true)"),
    ("handle.rs", "&& !RESERVED_TYPES.contains(&text)", ""),
    (
        "handle.rs",
        'symbols: "0123456789abcdefghjkmnpqrstvwxyz"',
        'symbols: "0123456789abcdefghjkmnpqrstvwxyz", translate_from: "oOilIL", translate_to: "001111"',
    ),
    ("context.rs", 'crate::text::require("target", target)?;', ""),
    (
        "context.rs",
        "&[method.as_bytes(), target.as_bytes(), &arguments]",
        "&[target.as_bytes(), method.as_bytes(), &arguments]",
    ),
    ("json.rs", "value.abs() < LIMIT", "value.abs() <= LIMIT"),
    ("json.rs", "number(value < LIMIT", "number(value <= LIMIT"),
    ("json.rs", "        self.reading.plain.set(false);\n        #[expect", "        #[expect"),
    ("json.rs", "if !key.is_ascii()", "if false"),
    ("json.rs", "MAX_LEVELS: usize = 100", "MAX_LEVELS: usize = 101"),
    ("json.rs", "MAX_LEVELS: usize = 100", "MAX_LEVELS: usize = 99"),
    ("json.rs", "if object.contains_key(&key)", "if false && object.contains_key(&key)"),
    ("json.rs", "reader.end()?;", ""),
    ("json.rs", "&& plain {", "&& true {"),
    ("json.rs", "if value.is_null()", "if false"),
    ("json.rs", "if only.is_some() && value", "if false && value"),
    ("json.rs", "self.levels == MAX_LEVELS", "true"),
    ("json.rs", "skipping.set(true)", "skipping.set(false)"),
    ("json.rs", "skipping.set(false);", "skipping.set(true);"),
    ("principal.rs", "claims.iss.is_none() || claims.sub.is_none()", "claims.sub.is_none()"),
    ("principal.rs", "claims.iss.is_none() || claims.sub.is_none()", "claims.iss.is_none()"),
    ("principal.rs", "claims.client_id.or(claims.azp)", "claims.azp.or(claims.client_id)"),
    ("sealed.rs", "u64::from(self.ttl).div_ceil(2)", "u64::from(self.ttl) / 2"),
    ("sealed.rs", "self.ttl != 0 && now", "now"),
    ("sealed.rs", "at > 0 || claims.is_half_over", "claims.is_half_over"),
    ("carried.rs", '.ends_with("/list")', '.contains("/list")'),
    ("carried.rs", 'method == "resources/directory/read"', "false"),
    ("carried.rs", 'Some(request_state("uri"))', 'Some(request_state("name"))'),
]

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tests_fail(copy: pathlib.Path) -> bool:
    tests = [f"--test={name}" for name in ["vectors", "requests", "sessions", "keys"]]
    command = ["cargo", "test", "--quiet", "--offline", "--features", "hazmat", *tests]
    run = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    if run.returncode != 0 and "test result: FAILED" not in run.stdout:
        sys.exit(f"the fault does not compile:\n{run.stderr[-2000:]}")
    return run.returncode != 0


def main(scratch: pathlib.Path) -> None:
    copy = scratch / "faults"
    for name in ["src", "tests"]:
        shutil.copytree(ROOT / name, copy / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "Cargo.lock", copy)
    shutil.copy(ROOT / "README.md", copy)
    # Of the workspace, the core alone.
    manifest = (ROOT / "Cargo.toml").read_text()
    members = manifest[manifest.index("members =") :].split("\n", 1)[0]
    (copy / "Cargo.toml").write_text(manifest.replace(members, ""))

    if tests_fail(copy):
        sys.exit("the tests fail without any fault")
    unseen = []
    for name, right, wrong in FAULTS:
        file = copy / "src" / name
        source = (ROOT / "src" / name).read_text()
        if source.count(right) < 1:
            sys.exit(f"src/{name} has no longer: {right}")
        file.write_text(source.replace(right, wrong))
        if not tests_fail(copy):
            unseen.append(f"src/{name}: {right}  ->  {wrong}")
        file.write_text(source)
    for fault in unseen:
        print(f"no test sees {fault}")
    print(f"{len(FAULTS) - len(unseen)} passed, {len(unseen)} failed")
    sys.exit(bool(unseen))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
