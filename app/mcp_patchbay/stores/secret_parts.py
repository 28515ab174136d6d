"""How one secret lies in the keyring: as it is, or, when it is long or odd, encoded and in parts.

Windows' Credential Manager takes at most 1,280 UTF-16 units, and no keyring promises to keep an empty text or a NUL.
The entry itself then names the parts; it is written last, so that the old secret counts until the new one is complete.
"""

from __future__ import annotations

import contextlib
import json
import re
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_patchbay.stores.keyring_thread import Backend

UNITS = 1000
"""UTF-16 units that one entry may have; longer secrets are split."""
_PREFIX = "patchbay:"
_PARTS = re.compile(r"patchbay:parts:([0-9a-f]+):([0-9]+)")


class PartMissingError(Exception):
    """The keyring lost a part of a secret."""


def read(backend: Backend, service: str, user: str) -> str | None:
    """The secret, or None when there is none. Blocking.

    Raises:
        PartMissingError, and what the keyring raises
    """
    head = backend.get_password(service, user)
    if head is None or not head.startswith(_PREFIX):
        return head
    parts = [backend.get_password(service, part) for part in _part_users(user, head)]
    if any(part is None for part in parts):
        raise PartMissingError("the keyring lost a part of it")
    text = "".join(part or "" for part in parts) if _PARTS.fullmatch(head) else head
    value: str = json.loads(text.removeprefix(_PREFIX))
    return value


def write(backend: Backend, service: str, user: str, value: str) -> None:
    """Store a secret and check that it can be read back; the old one stays when this fails. Blocking.

    Raises:
        What the keyring raises, of whatever type.
    """
    old = backend.get_password(service, user)
    text = value if _is_plain(value) else _PREFIX + json.dumps(value)
    written: list[str] = []
    try:
        if len(text) > UNITS:
            pieces = [text[at : at + UNITS] for at in range(0, len(text), UNITS)]
            head = f"{_PREFIX}parts:{uuid.uuid4().hex[:8]}:{len(pieces)}"
            for part, piece in zip(_part_users(user, head), pieces, strict=True):
                backend.set_password(service, part, piece)
                written.append(part)
            text = head
        backend.set_password(service, user, text)
    except Exception:
        for part in written:
            with contextlib.suppress(Exception):
                backend.delete_password(service, part)
        raise
    _remove_parts(backend, service, user, old)


def remove(backend: Backend, service: str, user: str) -> None:
    """Remove a secret with its parts; one that is not there is fine. Blocking."""
    old = backend.get_password(service, user)
    if old is None:
        return
    backend.delete_password(service, user)
    _remove_parts(backend, service, user, old)


def _is_plain(value: str) -> bool:
    return bool(value) and len(value) <= UNITS and value.isprintable() and value.isascii() and not _is_ours(value)


def _is_ours(value: str) -> bool:
    return value.startswith(_PREFIX)


def _part_users(user: str, head: str | None) -> list[str]:
    match = _PARTS.fullmatch(head or "")
    return [f"{user}#{match[1]}.{number}" for number in range(int(match[2]))] if match else []


def _remove_parts(backend: Backend, service: str, user: str, head: str | None) -> None:
    for part in _part_users(user, head):
        with contextlib.suppress(Exception):  # what stays is harmless: nothing names it
            backend.delete_password(service, part)
