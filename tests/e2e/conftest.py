"""The whole program, as a process on the desktop of the session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from e2e.running_app import RunningApp


class StartApp(Protocol):
    """Starts the app: on a home with these servers or this text in servers.json, or on the home as it is by now."""

    def __call__(
        self, *arguments: str, servers: dict[str, Any] | None = None, text: str | None = None, **options: Any
    ) -> RunningApp: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder needs the desktop."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here:
            item.add_marker(pytest.mark.desktop)
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.limit(150))


@pytest.fixture
def start_app(tmp_path: Path) -> Iterator[StartApp]:
    """Starts the app; every run is ended with the test, and none of them may have logged an error."""
    runs: list[RunningApp] = []

    def start(
        *arguments: str, servers: dict[str, Any] | None = None, text: str | None = None, **options: Any
    ) -> RunningApp:
        home = tmp_path / "home"
        (home / "config").mkdir(parents=True, exist_ok=True)
        if servers is not None:
            text = json.dumps({"version": 1, "servers": servers}, indent=2)
        if text is not None:
            (home / "config" / "servers.json").write_text(text)
        runs.append(RunningApp(home, *arguments, **options))
        return runs[-1]

    yield start
    for run in runs:
        run.close()
    for run in runs:
        assert run.errors_logged() == []
