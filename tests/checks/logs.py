"""A warning or an error in the log that no one expected fails the test.

    def test_x(expect_log):            or   @pytest.mark.expect_log("will retry")
        expect_log("will retry")            def test_x(): ...

An expected text must come, unless it is said with `expect_log("...", must_come=False)`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Protocol

import pytest


class ExpectLog(Protocol):
    def __call__(self, text: str, *, must_come: bool = True) -> None: ...


class Watcher(logging.Handler):
    """Collects what was logged at WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []
        self.expected: dict[str, bool] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def expect(self, text: str, *, must_come: bool = True) -> None:
        self.expected[text] = must_come

    def complaints(self) -> list[str]:
        """What came unexpectedly, and what was expected and did not come."""
        lines = [_words(record) for record in self.records]
        surprises = [line for line in lines if not any(text in line for text in self.expected)]
        missing = [text for text, must in self.expected.items() if must and not any(text in line for line in lines)]
        return [f"unexpected: {line}" for line in surprises] + [f"never logged: {text}" for text in missing]


def _words(record: logging.LogRecord) -> str:
    error = f" [{record.exc_info[1]!r}]" if record.exc_info and record.exc_info[1] else ""
    return f"{record.levelname} {record.name}: {record.getMessage()}{error}"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "expect_log(text): a warning or error with this text must be logged")


@pytest.fixture
def log_watcher(request: pytest.FixtureRequest) -> Iterator[Watcher]:
    watcher = Watcher()
    for marker in request.node.iter_markers("expect_log"):
        watcher.expect(*marker.args, **marker.kwargs)
    root = logging.getLogger()
    root.addHandler(watcher)
    yield watcher
    root.removeHandler(watcher)


@pytest.fixture(autouse=True)
def no_unexpected_logs(log_watcher: Watcher) -> Iterator[None]:
    yield
    if complaints := log_watcher.complaints():
        pytest.fail("log:\n  " + "\n  ".join(complaints))


@pytest.fixture
def expect_log(log_watcher: Watcher) -> ExpectLog:
    """Say that a warning or error with a text in it will be logged."""
    return log_watcher.expect
