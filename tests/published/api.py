"""Every name of docs/api.md stands in the sources of its language: in the class that its cell names, or among what is exported.

A receiver in small letters is a package, or a variable of the class of that name; `X(y=)` is an argument of X. A method in a first
cell belongs to the class that each cell of its row names or makes. Every name is sought misspelt too, and must not be found then.
"""

import ast
import pathlib
import re
import sys
from collections import defaultdict
from itertools import chain

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/api.md"
CORE = ("Codec, keys, errors", "Tokens and sessions")
# A folder, the sources of the core and those of the guard in it, and which of these say what can be imported.
SOURCES = {
    "TypeScript": ("pkg/src", "*.ts", "mcp/**/*.ts testing.ts otel.ts", r"/(main|testing|otel|mcp/(index|stdio))\.ts"),
    "Python": ("bindings/python/src/sealwax", "_*.py", "mcp/**/*.py [a-z]*.py", ""),
    "Go": ("bindings/go", "*.go", "[lms]*/**/*.go", ""),
    "Java": ("bindings/java", "sealwax/src/main/**/sealwax/*.java", "sealwax*/src/main/**/sealwax/[mt]*/*.java", ""),
    "Rust": (".", "src/*.rs src/format/*.rs", "adapters/rmcp/src/**/*.rs", r"/src/(lib|testing|ledger/mod)\.rs"),
    "C": ("bindings/c/include", "*.h", "", ""),
}
# What a line may begin: a class, a member for others, something exported; or the end of a class.
LINES = {
    "TypeScript": r"^export (?:class|interface) (?P<type>\w+)|^  (?:(?:static|readonly|get|async) )*(?P<member>\w+)\??[<(:]"
    r"|^export (?:(?:type )?\{|(?:async )?(?:const|function) )(?P<exported>[^}(:=<]*)|^\}",
    "Go": r"^(?:type|var|func) (?P<exported>[A-Z]\w*)|^func \(\w+ \*?(?P<type>[A-Z]\w*)(?:\[\w+\])?\) (?P<member>\w+)",
    "Java": r"^ *public [a-z ]*(?:class|interface|record|enum) (?P<type>\w+)|^ +(?:public|static) [^=(;{}]*?(?P<member>\w+)\(",
    "Rust": r"^impl(?:<.*?>)? (?:.* for )?(?P<type>\w+)|^    (?:pub (?:(?:async|const) )?fn|fn(?= from_str)) (?P<member>\w+)|^\}"
    r"|^pub (?:use (?:\w+::)*\{?|(?:async )?(?:fn|struct|enum|trait) )(?P<exported>[^};:<({]*)",
    "C": r"(?P<exported>\bsealwax_\w+(?=\()|(?<=#define )SEALWAX_\w+)",
}
# Variables whose class has another name: the first of these that there is.
CLASSES = {
    "builder": ["GuardOptions", "GuardBuilder"],
    "redis": ["RedisLedger", "Redis", "Ledger"],
    "sessions": ["DataLayerSessions", "Sessions"],
}


def of_python(text):
    """Yield what a module exports, and the members of its classes, those of the module that they extend too; an argument as
    `method(argument`."""
    body = ast.parse(text).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (("", name) for name in ast.literal_eval(node.value))
        bases = map(ast.unparse, node.bases) if isinstance(node, ast.ClassDef) else ()
        parts = [node, *(classes[name] for name in bases if name in classes)] if node in classes.values() else []
        for inner in chain.from_iterable(map(ast.walk, parts)):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from ((node.name, f"{inner.name}({one.arg}") for one in inner.args.kwonlyargs)
                yield node.name, inner.name
            elif isinstance(inner, ast.AnnAssign):
                yield node.name, ast.unparse(inner.target)
            elif isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                yield node.name, ast.unparse(inner).removeprefix("self.")


def of_lines(language, text, stem):
    """Yield what a file exports, and the members of its classes. One within that of the file has the names of both."""
    within = ""
    for line in re.finditer(LINES[language], text, re.MULTILINE):
        begun, member, exported = (line.groupdict().get(name) or "" for name in ("type", "member", "exported"))
        within = (stem * line[0].startswith(" ") + begun) if begun else member and within
        yield from (("", name) for name in re.findall(r"\w+", exported or begun))
        if within and member:
            yield within, member


def names(language, folder, sources, entries):
    """Return what is exported, by the name of the package, and what each class has."""
    found = defaultdict(set)
    for file in sorted(
        file for one in sources.split() for file in (ROOT / folder).glob(one) if "_test." not in file.name
    ):
        text = file.read_text()
        package = re.search(r"^package (\w+)$", text, re.MULTILINE)
        package = package or re.search(r"(ledger|otel|testing)(?:/mod)?\.(?:py|rs)$", str(file)) or ("", "")
        for owner, name in of_python(text) if language == "Python" else of_lines(language, text, file.stem):
            if owner or re.search(entries, str(file)):
                found[owner or package[1]].add(name)
    return found


def manner(language, name):
    """Return the name of a method as a language writes it."""
    if language in ("Python", "Rust", "C"):
        return re.sub("[A-Z]", lambda upper: "_" + upper[0].lower(), name)
    return re.sub(r"Id\b", "ID", name[0].upper() + name[1:]) if language == "Go" else name


def stands(parts, name):
    """Return whether a name stands in the first part that has its package or class."""
    call = re.sub(r"^(\w+)\(", r"\1.__init__(", re.sub(r"^new |\(\)$|=\)$", "", name))
    *_, owner, name = ["", *re.split(r"\.|::", call)]
    owners = CLASSES.get(owner, [owner, owner[:1].upper() + owner[1:]])
    return name in next((part[one] for one in owners for part in parts if one in part), ())


def wanted(page):
    """Yield the title above each name of the page, its language, and the name."""
    for section in page.split("\n## ")[1:]:
        title, *lines = section.splitlines()
        heads, _, *rows = [line.split(" | ") for line in lines if "|" in line]
        for what, *cells in rows:
            for language, cell in zip(heads[1:], cells, strict=True):
                found = re.fullmatch(r"(?:`(.+)`|—(?=.))([¹²³⁴⁵]?)", cell)
                if not found or f"{found[2]} " not in page:
                    sys.exit(f"{PAGE}: {what}: expected a name, or a dash and its note, found {cell}")
                name = found[1] or ""
                if name and "…" not in name:
                    yield title, language, name
                made = re.findall(r"(?:New)?(\w+)", name)[-1:]
                made = "".join(word[:1].upper() + word[1:] for one in made for word in one.split("_")) + "."
                for method in re.findall(r"`(\w+)`", what):
                    yield title, language, (name[:-1] if language == "C" else made) + manner(language, method)


def main():
    parts = {
        on: [names(on, folder, one, last) for one in (guard, core)]
        for on, (folder, core, guard, last) in SOURCES.items()
    }
    found = list(wanted((ROOT / PAGE).read_text()))
    if len(found) < 400:
        sys.exit(f"{PAGE}: expected 400 names and more, found {len(found)}")
    for title, language, name in found:
        of = parts[language][title in CORE :]
        if not stands(of, name):
            sys.exit(f"{PAGE}: {title}: {language} has no {name}")
        if stands(of, re.sub(r"(\w)(\W*)$", r"\1\1\2", name)):
            sys.exit(f"api: expected to miss {name}, misspelt, in {language}")
    print(f"{len(found)} names: {len(found)} passed, 0 failed")


if __name__ == "__main__":
    main()
