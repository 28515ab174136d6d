"""Where a crash below Python, such as a fault inside Qt, leaves its trace: no exception handler ever sees it."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

FILE_NAME = "crash.txt"


@contextlib.contextmanager
def crash_trace(folder: Path) -> Iterator[None]:
    """While it is entered, a crash writes each thread's calls (file, line, function; no values) to a file in `folder`.

    A trace that the last run left goes to the log. Where faulthandler is on already, it stays as it is.
    """
    file = folder / FILE_NAME
    _log_last(file)
    if faulthandler.is_enabled():
        yield
        return
    try:
        trace = open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w")  # noqa: SIM115
    except OSError as error:
        log.warning("a crash would leave no trace in %s: %s", folder, error)
        yield
        return
    with trace:
        faulthandler.enable(trace)
        try:
            yield
        finally:
            faulthandler.disable()
    file.unlink(missing_ok=True)


def _log_last(file: Path) -> None:
    with contextlib.suppress(OSError):
        if left := file.read_text("utf-8", "replace").strip():
            log.error("Patchbay crashed in its last run:\n%s", left)
        file.unlink()
