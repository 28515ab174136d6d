"""Glob rules of the MCP world: minimatch's defaults, on top of wcmatch.

`wcmatch.glob.globmatch` with these flags agrees with minimatch, except for a leading `!`, a leading `#` and the empty
pattern, which are handled here. Source of the rules: minimatch's README, "Comparisons to other fnmatch/glob
implementations".
"""

from __future__ import annotations

from functools import lru_cache

from wcmatch import glob

FLAGS = glob.GLOBSTAR | glob.BRACE | glob.EXTGLOB | glob.FORCEUNIX | glob.CASE
MAX_LENGTH = 64 * 1024


def matches(name: str, pattern: str) -> bool:
    """Whether `name` matches the glob `pattern`."""
    if pattern.startswith("#"):
        return False
    body = pattern.lstrip("!")
    negated = (len(pattern) - len(body)) % 2 == 1
    # `!(a|b)` is an extglob, not a negation: give back the "!" that belongs to it.
    if negated and body.startswith("("):
        body, negated = "!" + body, False
    return _match(name, body) != negated


@lru_cache(maxsize=4096)
def _match(name: str, pattern: str) -> bool:
    if not pattern or not name:
        return pattern == name
    return bool(glob.globmatch(name, pattern, flags=FLAGS))


def check_pattern(pattern: str) -> str:
    """Say what is wrong with a pattern that a person typed; empty when nothing is."""
    if not pattern.strip():
        return "the pattern is empty"
    if pattern != pattern.strip():
        return "there is a space before or after the pattern"
    if len(pattern) > MAX_LENGTH:
        return "the pattern is too long"
    for opening, closing, what in (("[", "]", "bracket"), ("{", "}", "brace"), ("(", ")", "parenthesis")):
        if _unbalanced(pattern, opening, closing):
            return f"a {what} is not closed"
    try:
        glob.translate(pattern, flags=FLAGS)
    except Exception as error:  # the library raises what its parser meets
        return str(error) or type(error).__name__
    return ""


def _unbalanced(pattern: str, opening: str, closing: str) -> bool:
    depth, escaped = 0, False
    for char in pattern:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == opening:
            depth += 1
        elif char == closing and depth:
            depth -= 1
    return depth > 0
