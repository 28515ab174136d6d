"""Loads the checks that hold for every test. Needs no Qt."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

pytest_plugins = ["checks.home", "checks.limits", "checks.leaks", "checks.logs", "checks.loops"]


def pytest_addoption(parser: pytest.Parser) -> None:
    if find_spec("pytestqt") is None:  # the core tests run without Qt, under the same pyproject.toml
        for name in ("qt_api", "qt_log_level_fail", "qt_log_ignore"):
            parser.addini(name, "an option of pytest-qt, which is not here")
