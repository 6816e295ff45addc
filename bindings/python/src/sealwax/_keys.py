"""Keys and key rings."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Union

from ._errors import InvalidKey
from ._native import Opaque, call, call_for_bytes, call_for_text, data, ffi, lib, own, pair, text

#: A key, key texts as in ``SEALWAX_KEYS``, or a ring.
KeyLike = Union["Key", "KeyRing", str]


class Key(Opaque):
    """A secret key: never printed, and wiped from memory when it is freed.

    >>> from sealwax import Key
    >>> key = Key.generate()
    >>> Key.parse(key.to_text()).id == key.id
    True
    """

    __slots__ = ("_key",)
    _key: Any

    def __init__(self) -> None:
        raise TypeError("a key comes from Key.generate, Key.parse, Key.derive or Key.from_secret")

    @classmethod
    def generate(cls) -> Key:
        """Make a key from the system's randomness."""
        return cls._of(own("sealwax_key", lib.sealwax_key_generate))

    @classmethod
    def parse(cls, key_text: str) -> Key:
        """Read a key text; its checksum detects typing errors."""
        return cls._of(own("sealwax_key", lib.sealwax_key_parse, *pair(text("key_text", key_text))))

    @classmethod
    def derive(cls, secret: str) -> Key:
        """Derive a key from a secret that is there, which is never decoded.

        It is a generated text of 32 characters and more, such as a framework's ``SECRET_KEY``, 64
        hexadecimal digits or 44 characters of base64; never a passphrase. The key is the same in
        every language. Fewer characters, white space, one character repeated, and the text of a
        key raise :class:`InvalidKey`.

        >>> from sealwax import Key
        >>> Key.derive("c2VjcmV0IHRleHQgdGhhdCBpcyBnZW5lcmF0ZWQ").id
        'cbeb7d73'
        """
        return cls._of(own("sealwax_key", lib.sealwax_key_derive, *pair(text("secret", secret))))

    @classmethod
    def from_secret(cls, secret: bytes | bytearray | memoryview) -> Key:
        """Make a key from 32 existing random bytes or more, never from a passphrase.

        Fewer bytes, bytes that are all equal, and printable ASCII alone raise :class:`InvalidKey`.
        """
        given = pair(data("secret", secret))
        return cls._of(own("sealwax_key", lib.sealwax_key_from_secret, *given))

    @classmethod
    def _of(cls, key: Any) -> Key:
        made = cls.__new__(cls)
        made._key = key
        return made

    @property
    def id(self) -> str:
        """The key's public id, 8 hex digits: readable in every token that the key seals."""
        place = ffi.new("uint8_t (*)[4]")
        call(lib.sealwax_key_id, self._key, place)
        return bytes(place[0]).hex()

    def to_text(self) -> str | None:
        """Return the key's text, for ``SEALWAX_KEYS``: as secret as the key itself.

        ``None`` for an imported secret of more than 32 bytes, which has no text form. Python
        cannot wipe a ``str``: do not keep it.
        """
        capacity = lib.SEALWAX_KEY_TEXT_LEN
        return call_for_text(lib.sealwax_key_to_text, self._key, capacity=capacity) or None

    def __repr__(self) -> str:
        return f"<Key {self.id}>"


class KeyRing(Opaque):
    """1 to 16 keys in order: the first seals, every one opens.

    To rotate keys, give every replica the new key before it seals, and keep the old one until its
    tokens have expired: ``[old, new]`` everywhere, then ``[new, old]``, then ``[new]``.

    >>> from sealwax import Key, KeyRing
    >>> old, new = Key.generate(), Key.generate()
    >>> KeyRing([new, old]).ids == (new.id, old.id)
    True

    `keys` are a key, key texts as in ``SEALWAX_KEYS``, another ring, or several of these.
    """

    __slots__ = ("_ring",)
    _ring: Any

    def __init__(self, keys: KeyLike | Iterable[KeyLike]) -> None:
        several = (keys,) if keys is None or isinstance(keys, (Key, KeyRing, str)) else keys
        if not isinstance(several, Iterable):
            raise _wrong(several)
        rings = [_ring(one) for one in several]
        array = ffi.new("sealwax_ring *[]", [ring._ring for ring in rings])
        self._ring = own("sealwax_ring", lib.sealwax_ring_join, array, len(rings))

    @classmethod
    def parse(cls, ring_text: str | None) -> KeyRing:
        """Read key texts separated by commas or white space.

        ``#`` and what follows in its line is a comment.
        """
        if ring_text is None:
            raise _missing()
        written = pair(text("ring_text", ring_text))
        return cls._of(own("sealwax_ring", lib.sealwax_ring_parse, *written))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> KeyRing:
        """Read the ring in a file."""
        written = pair(text("path", os.fspath(path)))
        return cls._of(own("sealwax_ring", lib.sealwax_ring_read, *written))

    @classmethod
    def from_env(cls) -> KeyRing:
        """Read the ring in the environment.

        It is in the file that ``SEALWAX_KEYS_FILE`` names, in ``SEALWAX_KEYS``, or, by
        :meth:`Key.derive`, in ``SEALWAX_SECRET`` and ``SEALWAX_SECRET_FALLBACKS``, earlier ones,
        separated by white space. :meth:`Codec.from_env` also follows the file.
        """
        return cls._of(own("sealwax_ring", lib.sealwax_ring_from_env))

    @classmethod
    def _of(cls, ring: Any) -> KeyRing:
        made = cls.__new__(cls)
        made._ring = ring
        return made

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the keys, the sealing one first."""
        capacity = lib.SEALWAX_RING_IDS_MAX
        ids = call_for_bytes(lib.sealwax_ring_ids, self._ring, capacity=capacity).hex()
        return tuple(ids[at : at + 8] for at in range(0, len(ids), 8))

    def __repr__(self) -> str:
        return f"<KeyRing {' '.join(self.ids)}>"


def _ring(keys: KeyLike | None) -> KeyRing:
    if isinstance(keys, KeyRing):
        return keys
    if isinstance(keys, Key):
        array = ffi.new("sealwax_key *[]", [keys._key])
        return KeyRing._of(own("sealwax_ring", lib.sealwax_ring_new, array, 1))
    if keys is None:
        raise _missing()
    if not isinstance(keys, str):
        raise _wrong(keys)
    return KeyRing.parse(keys)


def _wrong(keys: object) -> TypeError:
    expected = "a Key, key texts, a KeyRing or several of them"
    return TypeError(f"keys: expected {expected}, found {type(keys).__name__}")


def _missing() -> InvalidKey:
    return InvalidKey(
        "keys: expected keys, found None: is SEALWAX_KEYS set? `python -m sealwax keygen` makes a "
        "key for it. Codec.from_env reads it, and SEALWAX_KEYS_FILE and SEALWAX_SECRET"
    )
