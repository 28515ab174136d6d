"""Whether a folder that a person typed is there, and which one they may have meant. Looks at the disk."""

from __future__ import annotations

import asyncio
import difflib
import os
from pathlib import Path

from mcp_patchbay.domain.messages import Message, message

LOOK_LIMIT = 3.0
"""Seconds for the disk to answer: a network folder may be gone."""


async def folder_problem(text: str) -> Message | None:
    """What is wrong with the folder `text` names; None when it is there, or when the disk does not answer in time."""
    try:
        return await asyncio.wait_for(asyncio.to_thread(_look, text), LOOK_LIMIT)
    except TimeoutError:
        return None


def full_path(text: str) -> str:
    """The path with `~` written out."""
    return os.path.expanduser(text.strip())


def short_path(path: str) -> str:
    """The path with `~` for the user's own folder."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def _look(text: str) -> Message | None:
    path = Path(full_path(text))
    try:
        if path.is_dir():
            return None
        parent = next((folder for folder in path.parents if folder.is_dir()), None)
        missing = path.relative_to(parent).parts[0] if parent else ""
        names = [entry.name for entry in os.scandir(parent) if entry.is_dir()] if parent else []
    except (OSError, ValueError):
        return message("field.cwd.missing")
    meant = difflib.get_close_matches(missing, names, n=1, cutoff=0.7)
    if parent is None or not meant:
        return message("field.cwd.missing")
    rest = path.relative_to(parent).parts[1:]
    return message("field.cwd.missing_near", path=short_path(str(parent.joinpath(meant[0], *rest))))
