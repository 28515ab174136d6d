"""The in-process servers by name."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_patchbay.builtin.registry import BuiltinServers
from mcp_patchbay.domain.errors import ConfigError


def test_an_unknown_name_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(ConfigError, match="no built-in server named nope") as refusal:
        BuiltinServers().create("nope", {})
    assert "filesystem" in str(refusal.value.hint)


def test_the_known_names_can_be_made(tmp_path: Path) -> None:
    builtins = BuiltinServers()
    assert builtins.names() == ("filesystem",)
    assert builtins.create("filesystem", {"allowed_directories": [str(tmp_path)]}).name == "filesystem"


def test_making_a_server_leaves_the_root_logger_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    BuiltinServers().create("filesystem", {"allowed_directories": [str(tmp_path)]})
    assert root.handlers == []
    assert root.level == level


def test_importing_the_registry_does_not_load_mcp() -> None:
    code = "import sys, mcp_patchbay.builtin.registry; sys.exit('mcp' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
