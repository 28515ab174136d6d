"""Which commands fetch a package before they run it."""

from __future__ import annotations

import pytest

from mcp_patchbay.engine.spawn import package_runner


@pytest.mark.parametrize(
    "line",
    [
        "npx -y x",
        "/opt/homebrew/bin/npx x",
        "C:\\nodejs\\NPX.CMD x",
        "bunx x",
        "uvx x",
        "pipx run x",
        "docker run -i x",
        "uv tool run x",
        "uv --quiet tool run x",
        "npm exec x",
        "npm --yes exec x",
        "pnpm dlx x",
        "yarn dlx x",
        "cmd /c npx -y x",
        "cmd.exe /d /s /c npx -y x",
        "env A=1 npx x",
        "fnm exec --using=default npx.cmd -y x",
    ],
)
def test_runners_are_known_also_behind_others(line: str) -> None:
    assert package_runner(line.split(" "))


def test_a_runner_in_a_line_for_a_shell_is_seen() -> None:
    assert package_runner(["sh", "-c", "npx -y x"])
    assert not package_runner(["sh", "-c", "echo 'open"])


@pytest.mark.parametrize(
    "line", ["node x.js", "python -m x", "uv pip install x", "npm start", "cmd /c node x", "sh -c"]
)
def test_other_commands_are_not(line: str) -> None:
    assert not package_runner(line.split(" "))


def test_nothing_is_no_runner() -> None:
    assert not package_runner([])
