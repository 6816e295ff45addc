"""Reads the WebAssembly that is emitted for what computes with keys: does a branch or an address depend on them?

emitted.py WASM-OPT MODULE NAME... -- CONTROL...: MODULE still has the names of functions, and goes through `wasm-opt` as
what is shipped does. For each NAME there must be such a function. A small abstract interpretation follows each value:
parameters are addresses and lengths, and public; whatever is loaded from memory, or comes of a call, is secret. It lists
each branch, `select`, address and index of a table that a secret reaches, and fails if there is one. In each CONTROL it
has to find some.
"""

import re
import subprocess
import sys

FEATURES = (
    *("--enable-bulk-memory", "--enable-multivalue", "--enable-mutable-globals", "--enable-nontrapping-float-to-int"),
    *("--enable-reference-types", "--enable-sign-ext", "--enable-simd"),
)
# Those of xtask/src/wasm.rs and portable.rs.
SMALL = (
    *("--skip-pass=local-cse", "--one-caller-inline-max-function-size", "100", "--flatten", "--rereloop"),
    *("-Oz", "-Oz", "--converge"),
)
FAST = ("-O3", "--one-caller-inline-max-function-size", "200")
TOKEN = re.compile(r'\(;.*?;\)|;;[^\n]*|"(?:[^"\\]|\\.)*"|[()]|[^\s()";]+', re.S)


def parse(text):
    """Returns the first expression of a text, as lists of lists."""
    stack = [[]]
    for token in TOKEN.findall(text):
        if token.startswith((";;", "(;")):
            continue
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
            if len(stack) == 1:
                return done
        else:
            stack[-1].append(token)
    raise ValueError("no expression")


class Function:
    """The values of one function: a local is in `self.secret` if it depends on a secret here."""

    def __init__(self, parts):
        self.found = set()
        self.seen = {"branches": 0, "addresses": 0}
        self.secret = frozenset()
        self.labels = {}
        self.body(
            [part for part in parts if isinstance(part, list) and part[0] not in ("param", "result", "local", "type")]
        )

    def body(self, parts):
        value = False
        for part in parts:
            value = self.value(part)
        return value

    def operands(self, parts):
        return [self.value(part) for part in parts if isinstance(part, list)]

    def check(self, what, part, secret):
        self.seen["branches" if what in ("branch", "select", "index") else "addresses"] += 1
        if secret:
            self.found.add(f"{what}: {' '.join(map(text, part))[:100]}")

    def leave(self, label):
        """Remembers what is secret where a label is branched to."""
        self.labels[label] = self.labels.get(label, frozenset()) | self.secret

    def value(self, part):
        """Interprets an expression; returns whether its value is secret."""
        op = part[0]
        if op in ("block", "loop"):
            return self.nested(part)
        if op == "if":
            return self.choice(part)
        if op in ("then", "else"):
            return self.body(part[1:])
        if op == "local.get":
            return part[1] in self.secret
        values = self.operands(part[1:])
        secret = any(values)
        if op in ("local.set", "local.tee"):
            self.secret = self.secret | {part[1]} if secret else self.secret - {part[1]}
        elif op in ("br_if", "br", "br_table"):
            for label in (name for name in part[1:] if isinstance(name, str)):
                self.leave(label)
            if op != "br":
                self.check("branch", part, values[-1])
        elif op == "select":
            self.check("select", part, values[-1])
        elif ".load" in op:
            self.check("address", part, values[0])
            return True
        elif ".store" in op:
            self.check("address", part, values[0])
        elif op in ("memory.copy", "memory.fill"):
            # What is filled in may be secret.
            self.check("address", part, values[0] or values[2] or (op == "memory.copy" and values[1]))
        elif op == "call_indirect":
            self.check("index", part, values[-1])
            return True
        elif op == "call":
            return True
        elif re.fullmatch(r"i(32|64)\.(div|rem)_[us]", op):
            # As long as its operands are large.
            self.check("branch", part, secret)
        return secret

    def nested(self, part):
        label = part[1] if isinstance(part[1], str) else None
        outer = self.labels.pop(label, None)
        inner = [piece for piece in part[1:] if isinstance(piece, list) and piece[0] != "result"]
        if part[0] == "block":
            secret = self.body(inner)
            self.secret |= self.labels.pop(label, frozenset())
        else:
            # Until nothing more becomes secret at its start.
            while True:
                start = self.secret
                secret = self.body(inner)
                again = self.labels.pop(label, frozenset())
                if again <= start:
                    break
                self.secret = start | again
        if outer is not None:
            self.labels[label] = outer
        return secret

    def choice(self, part):
        pieces = [piece for piece in part[1:] if isinstance(piece, list) and piece[0] != "result"]
        condition = self.value(pieces[0])
        self.check("branch", part[:1] + pieces[:1], condition)
        before, values, after = self.secret, [], []
        for arm in pieces[1:] + [["else"]] * (3 - len(pieces)):
            self.secret = before
            values.append(self.value(arm))
            after.append(self.secret)
        self.secret = frozenset().union(*after)
        return condition or any(values)


def text(part):
    return part if isinstance(part, str) else f"({' '.join(map(text, part))})"


def functions(wat):
    """Returns the text of each function by its name."""
    pieces = re.split(r"\n \(func \$", wat)[1:]
    return {piece.split(None, 1)[0]: "(func $" + piece.split("\n (", 1)[0] for piece in pieces}


def main(wasm_opt, module, *names):
    options = FAST if "portable" in module else SMALL
    command = [wasm_opt, *FEATURES, *options, "-g", module, "-S", "-o", "-"]
    all_functions = functions(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    failed, control = False, False
    for name in names:
        if name == "--":
            control = True
            continue
        matching = [found for found in all_functions if re.search(name, found)]
        if not matching:
            raise SystemExit(f"no function is named {name}: the compiler has put it into another one")
        for found in matching:
            function = Function(parse(all_functions[found])[2:])
            seen = ", ".join(f"{number} {what}" for what, number in function.seen.items())
            print(f"{name}: {seen}; {len(function.found)} depend on what memory holds")
            if control != bool(function.found):
                failed = True
                print(*sorted(function.found), sep="\n")
            elif not control:
                print("figure: 1 functions of WebAssembly")
    raise SystemExit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
