"""Listing folders: one level, as a tree, or what matches a glob. Links to folders are shown but never followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wcmatch import glob

from mcp_patchbay.builtin.filesystem.folders import AllowedFolders, FileError, Place, entries
from mcp_patchbay.domain.globs import FLAGS, check_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIST_LIMIT = 5_000
"""Entries of one listing or tree."""
TREE_DEPTH = 32
SEARCH_LIMIT = 1_000
"""Matches of one search."""
VISIT_LIMIT = 200_000
"""Entries that one search looks at."""


def listing(place: Place) -> str:
    """One line an entry, marked [DIR] or [FILE].

    Raises:
        OSError: the folder cannot be read.
    """
    found = entries(place)
    lines = [
        f"{'[DIR]' if entry.is_dir(follow_symlinks=False) else '[FILE]'} {name}" for name, entry in found[:LIST_LIMIT]
    ]
    if len(found) > LIST_LIMIT:
        lines.append(f"[Cut: {len(found) - LIST_LIMIT:,} more entries]")
    return "\n".join(lines) or "The folder is empty"


class Tree:
    """A folder and all below it, as `{"name", "type", "children"}`.

    `cut` says afterwards what was left out, if anything.
    """

    def __init__(self, exclude: Sequence[str] = ()) -> None:
        self.cut = ""
        self._exclude = [pattern for given in exclude for pattern in _widened(_checked(given))]
        self._left = LIST_LIMIT

    def build(self, place: Place) -> list[dict[str, Any]]:
        """The entries of `place`.

        Raises:
            OSError: the folder itself cannot be read; one below that cannot is shown empty.
        """
        return self._children(place, "", 1)

    def _children(self, place: Place, prefix: str, depth: int) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = []
        for name, entry in entries(place):
            relative = prefix + name
            if _matches(relative, self._exclude):
                continue
            if not self._left:
                self.cut = (
                    f"[Cut: only the first {LIST_LIMIT:,} entries are shown. Use excludePatterns or a subfolder.]"
                )
                break
            self._left -= 1
            if not entry.is_dir(follow_symlinks=False):
                nodes.append({"name": name, "type": "file"})
                continue
            node: dict[str, Any] = {"name": name, "type": "directory", "children": []}
            nodes.append(node)
            if depth >= TREE_DEPTH:
                self.cut = self.cut or f"[Cut: folders below {TREE_DEPTH} levels are not shown.]"
                continue
            try:
                node["children"] = self._children(place.child(name), relative + "/", depth + 1)
            except OSError:
                self.cut = self.cut or "[Some folders could not be read; they are shown empty.]"
        return nodes


def search(allowed: AllowedFolders, place: Place, pattern: str, exclude: Sequence[str] = ()) -> list[str]:
    """Full paths below a folder whose path from there matches the glob; a last line in brackets says what was left out.

    Raises:
        FileError: a pattern is no glob.
        OSError: the folder cannot be read.
    """
    wanted, unwanted = [_checked(pattern)], [_checked(given) for given in exclude]
    found: list[str] = []
    entries(place)  # the folder itself must be readable; those below need not be
    for visited, (relative, entry_place, is_link) in enumerate(_walk(place, unwanted)):
        if visited >= VISIT_LIMIT:
            return [*found, f"[Cut: stopped after looking at {VISIT_LIMIT:,} entries. Search in a subfolder.]"]
        if not _matches(relative, wanted) or (is_link and not _leads_inside(allowed, entry_place)):
            continue
        if len(found) >= SEARCH_LIMIT:
            return [*found, f"[Cut: only the first {SEARCH_LIMIT:,} matches are shown. Use a narrower pattern.]"]
        found.append(str(entry_place.path))
    return found


def _walk(top: Place, exclude: Sequence[str]) -> Iterator[tuple[str, Place, bool]]:
    """Everything below `top` that is not excluded: its relative path, its place, and whether it is a link."""
    waiting = [("", top)]
    while waiting:
        prefix, folder = waiting.pop()
        try:
            found = entries(folder)
        except OSError:
            continue
        below = []
        for name, entry in found:
            relative = prefix + name
            if _matches(relative, exclude):
                continue
            yield relative, folder.child(name), entry.is_symlink()
            if entry.is_dir(follow_symlinks=False):
                below.append((relative + "/", folder.child(name)))
        waiting.extend(reversed(below))


def _leads_inside(allowed: AllowedFolders, place: Place) -> bool:
    try:
        allowed.resolve(str(place.path))
    except FileError:
        return False
    return True


def _checked(pattern: str) -> str:
    if problem := check_pattern(pattern):
        raise FileError(f"{pattern!r} cannot be used as a pattern: {problem}")
    return pattern


def _widened(pattern: str) -> tuple[str, ...]:
    """A name without a star excludes what is called so anywhere, with all that is in it."""
    return (pattern,) if "*" in pattern else (pattern, f"**/{pattern}", f"**/{pattern}/**")


def _matches(relative: str, patterns: Sequence[str]) -> bool:
    return any(glob.globmatch(relative, pattern, flags=FLAGS | glob.DOTGLOB) for pattern in patterns)
