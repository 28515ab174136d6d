"""Glob rules of the MCP world: minimatch's defaults, on top of wcmatch.

`wcmatch.glob.globmatch` with these flags agrees with minimatch, except for a leading `!`, a leading `#` and the empty
pattern, which are handled here. Source of the rules: minimatch's README, "Comparisons to other fnmatch/glob
implementations".
"""

from __future__ import annotations

import re
from functools import lru_cache

from wcmatch import glob

from mcp_patchbay.domain.messages import Message, message, plain

FLAGS = glob.GLOBSTAR | glob.BRACE | glob.EXTGLOB | glob.FORCEUNIX | glob.CASE
MAX_LENGTH = 64 * 1024
_ESCAPE = re.compile(r"\\.", re.DOTALL)
# A class such as [a-z], [!]] or [[:alpha:]]: a "]" right after its start is one of its members.
_CLASS = re.compile(r"\[[!^]?+\]?+(?:\[:[a-z]+:\]|[^\]])*\]")


def matches(name: str, pattern: str) -> bool:
    """Whether `name` matches the glob `pattern`."""
    if pattern.startswith("#"):
        return False
    body = pattern.lstrip("!")
    negated = (len(pattern) - len(body)) % 2 == 1
    return _match(name, body) != negated


@lru_cache(maxsize=4096)
def _match(name: str, pattern: str) -> bool:
    if not pattern or not name:
        return pattern == name
    return bool(glob.globmatch(name, pattern, flags=FLAGS))


def check_pattern(pattern: str) -> Message | None:
    """Say what is wrong with a pattern that a person typed; None when nothing is."""
    if not pattern.strip():
        return message("glob.empty")
    if pattern != pattern.strip():
        return message("glob.blank")
    if len(pattern) > MAX_LENGTH:
        return message("glob.long")
    if group := _open_group(pattern):
        return message(f"glob.{group}")
    try:
        glob.translate(pattern, flags=FLAGS)
    except Exception as error:  # the library raises what its parser meets
        return plain(str(error) or type(error).__name__)
    return None


def _open_group(pattern: str) -> str:
    """The first group that is never closed: "bracket", "brace" or "parenthesis"; empty when all are."""
    bare = _ESCAPE.sub("", pattern)
    bare = _CLASS.sub("", bare)
    if "[" in bare:
        return "bracket"
    for opening, closing, group in (("{", "}", "brace"), ("(", ")", "parenthesis")):
        depth = 0
        for char in bare:
            if char == opening:
                depth += 1
            elif char == closing and depth:
                depth -= 1
        if depth:
            return group
    return ""
