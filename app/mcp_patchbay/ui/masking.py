"""Hiding what looks like a secret in commands and URLs before they are shown in passing or copied into a report."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from mcp_patchbay.domain.placeholders import looks_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

MASK = "•••"


def masked_words(words: Sequence[str]) -> list[str]:
    """A command's words; the value of a secret-looking option (`--token X`, `--api-key=X`, `TOKEN=X`) is masked."""
    shown: list[str] = []
    hide_next = False
    for word in words:
        name, equals, value = word.partition("=")
        option = name.lstrip("-")
        is_secret = looks_secret(option) and (name.startswith("-") or bool(equals))
        if hide_next and not word.startswith("-"):
            shown.append(_masked(word))
        elif equals and is_secret:
            shown.append(f"{name}={_masked(value)}")
        elif "://" in word:
            shown.append(masked_url(word))
        else:
            shown.append(word)
        hide_next = is_secret and not equals
    return shown


def masked_url(url: str) -> str:
    """A URL; its password and the values of secret-looking query parameters are masked."""
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL after all
        return url
    userinfo, at, host = parts.netloc.rpartition("@")
    if at and ":" in userinfo:
        userinfo = f"{userinfo.partition(':')[0]}:{MASK}"
    query = parts.query
    pairs = parse_qsl(query, keep_blank_values=True)
    if any(looks_secret(name) for name, _ in pairs):
        query = "&".join(
            f"{quote(name)}={_masked(value) if looks_secret(name) else quote(value, safe='${}:/')}"
            for name, value in pairs
        )
    return urlunsplit((parts.scheme, f"{userinfo}{at}{host}", parts.path, query, parts.fragment))


def _masked(value: str) -> str:
    """A placeholder such as `${secret:...}` says nothing and stays."""
    return value if value.startswith("${") and value.endswith("}") else MASK
