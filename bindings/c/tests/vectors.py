"""Prints the vectors as lines that are easy to read in C.

A line is the name of a section and members, separated by tabs: bytes and text as `name:hex`,
numbers as `name=decimal`. Members of members are joined (`expect.payload`), what is null is left
out, and a ring of places in the file's list of keys becomes the ring's text.
"""

import json
import sys

# Members that are hex in the file too.
BYTES = {"secret", "kid", "context", "nonce", "payload", "token_id", "ulid"}


def members(vector, keys, prefix=""):
    for name, value in vector.items():
        if name == "key" or (name == "ring" and isinstance(value, list)):
            places = [value] if name == "key" else value
            yield text("ring", " ".join(keys[place]["text"] for place in places))
        elif isinstance(value, dict):
            yield from members(value, keys, f"{prefix}{name}.")
        elif isinstance(value, list):
            yield f"{prefix}{name}:{''.join(value)}"
        elif isinstance(value, str):
            yield f"{prefix}{name}:{value}" if name in BYTES else text(prefix + name, value)
        elif value is not None:
            yield f"{prefix}{name}={int(value)}"


def text(name, value):
    return f"{name}:{value.encode().hex()}"


def check_tags_are_covered(content):
    """Remove the tags, which the ABI does not have: each is inside of a token that comes out the same only if the tag is right."""
    made = [*content["sealed"], *content["session_ids"], *content["handles"]]
    covered = [(vector["principal"], vector["key"]) for vector in made]
    for vector in content.pop("principal_tags"):
        for place in range(len(vector["tags"])):
            assert (vector["principal"], place) in covered, vector


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    check_tags_are_covered(content)
    # The guard's engine alone makes them.
    for section in ("consents", "short_handles"):
        content.pop(section, None)
    for section, vectors in content.items():
        if isinstance(vectors, list):
            for vector in vectors:
                print(section, *members(vector, content["keys"]), sep="\t")
