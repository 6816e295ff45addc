"""Print the layout of the header's structs in the portable module, as JSON: `wasm32.py include/sealwax.h`.

C compilers for wasm32 align a member to its own size (WebAssembly tool conventions, "Basic C ABI"); pointers and
`size_t` have four bytes.
"""

import json
import subprocess
import sys
from pathlib import Path

from pycparser import c_ast, c_parser

HERE = Path(__file__).parent
SIZES = {"bool": 1, "char": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4, "size_t": 4, "uint64_t": 8, "int64_t": 8}


def declarations(header: str) -> c_ast.FileAST:
    """Parse the header's declarations, with the names of C's own types."""
    cdef = subprocess.run(["sed", "-E", "-f", HERE / "cdef.sed", header], check=True, capture_output=True, text=True)
    types = "".join(f"typedef int {name};" for name in SIZES if name != "char")
    return c_parser.CParser().parse(types + cdef.stdout)


class Layouts:
    """The structs of a header."""

    def __init__(self, tree: c_ast.FileAST) -> None:
        self.constants: dict[str, int] = {}
        self.structs: dict[str, dict[str, object]] = {}
        self.sizes = dict(SIZES)
        for node in tree.ext:
            if isinstance(node, c_ast.Typedef) and node.name not in self.sizes:
                self.typedef(node)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
                for constant in node.type.values.enumerators:
                    self.constants[constant.name] = int(constant.value.value)

    def typedef(self, node: c_ast.Typedef) -> None:
        """Note the size of a name, and the layout of a struct that is not opaque."""
        of = node.type.type
        if isinstance(of, c_ast.IdentifierType):
            self.sizes[node.name] = self.sizes[of.names[0]]
        elif of.decls is not None:
            self.structs[node.name] = self.struct(of)

    def struct(self, node: c_ast.Struct) -> dict[str, object]:
        """Lay a struct out."""
        members, at, align = {}, 0, 1
        for member in node.decls:
            name, size, count = self.member(member.type)
            at += -at % size
            members[member.name] = {"offset": at, "type": name if count is None else f"{name}[{count}]"}
            at += size * (1 if count is None else count)
            align = max(align, size)
        return {"size": at + -at % align, "align": align, "members": members}

    def member(self, node: c_ast.Node) -> tuple[str, int, int | None]:
        """Return the type of a member, its size, and how many there are of it in an array."""
        if isinstance(node, c_ast.PtrDecl):
            return "pointer", SIZES["size_t"], None
        if isinstance(node, c_ast.ArrayDecl):
            name, size, _ = self.member(node.type)
            dim = node.dim
            return name, size, self.constants[dim.name] if isinstance(dim, c_ast.ID) else int(dim.value)
        (name,) = node.type.names
        return name, self.sizes[name], None


if __name__ == "__main__":
    print(json.dumps(Layouts(declarations(sys.argv[1])).structs, indent=2))
