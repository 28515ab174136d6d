"""A window as a screen reader sees it: by AT-SPI, through the system's Python (`accessibility_reader.py`)."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("accessibility_reader.py")
SYSTEM_PYTHON = "/usr/bin/python3"
ANSWER_LIMIT = 30.0
"""Seconds for one answer."""

Thing = dict[str, Any]
"""A widget or cell in sight: name, role, text, value, box, enabled, focused, checked, selected."""


class ScreenReader:
    """Asks about one program. What is not in sight is a LookupError."""

    def __init__(self, pid: int, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [SYSTEM_PYTHON, "-W", "ignore::DeprecationWarning", str(SCRIPT), str(pid)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        """The reader's own process."""
        return self._process.pid

    def ask(self, command: str, *arguments: str) -> Any:
        """One question, as the script's page says."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([command, *arguments]) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], ANSWER_LIMIT)
        assert ready, f"the screen reader did not answer to {command!r} within {ANSWER_LIMIT:g} s"
        answer = json.loads(process.stdout.readline())
        if "error" in answer:
            raise LookupError(answer["error"])
        return answer["answer"]

    def seen(self) -> list[Thing]:
        """Everything in sight; nothing while there is no window."""
        try:
            found: list[Thing] = self.ask("seen")
        except LookupError:
            return []
        return found

    def rows(self, table: str) -> list[list[Thing]]:
        """The cells of a table, row by row; none while it is not in sight."""
        try:
            found: list[list[Thing]] = self.ask("rows", table)
        except LookupError:
            return []
        return found

    def close(self) -> None:
        """End the reader."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(ANSWER_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
