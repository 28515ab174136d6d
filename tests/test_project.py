"""The project's own files keep their promises."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
SOURCES = [*ROOT.glob("app/**/*.py"), *ROOT.glob("tests/**/*.py"), ROOT / "dev.py"]
VAGUE = {"utils", "helpers", "misc", "common", "manager2"}
ADDRESS = re.compile(r"https?://(?!127\.0\.0\.1|localhost)[^\s\"']*(?:simple|registry|index|pypi|npmjs)[^\s\"']*", re.I)


def package_name(requirement: str) -> str:
    return re.split(r"[\s=<>!~;\[]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def locked_version(name: str) -> str:
    found = re.search(rf"^{re.escape(name)}==([^\s;]+)", LOCK, re.M)
    assert found, f"{name} is not in requirements.lock: run python3 dev.py lock"
    return found[1]


@pytest.mark.parametrize("requirement", [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]])
def test_each_dependency_is_locked_with_hashes(requirement: str) -> None:
    block = LOCK.split(f"\n{package_name(requirement)}==")[-1].split("\n    # via")[0]
    assert locked_version(package_name(requirement))
    assert "--hash=sha256:" in block


def test_the_pins_that_measurements_asked_for_are_kept() -> None:
    assert locked_version("mcp").startswith("2.3.")
    assert locked_version("pyside6-essentials").startswith("6.11.")
    assert locked_version("qasync") == "0.28.0"


@pytest.mark.parametrize(
    "path",
    [ROOT / "requirements.lock", ROOT / "pyproject.toml", ROOT / "dev.py", *ROOT.glob("tests/servers/package*.json")],
)
def test_no_address_of_a_package_index_is_written_down(path: Path) -> None:
    assert ADDRESS.findall(path.read_text()) == []


def test_dev_py_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse((ROOT / "dev.py").read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_ci_runs_the_same_command_as_people_do() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().rstrip().endswith("exec python3 dev.py test")


def test_no_folder_or_file_has_a_name_that_says_nothing() -> None:
    assert [
        path for path in SOURCES if VAGUE & {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
    ] == []


def test_nothing_of_the_product_refers_to_folders_of_one_machine() -> None:
    folders = re.compile(r"/work/|\.\./shared|/root/")
    product = [*ROOT.glob("app/**/*.py"), *ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "dev.py"]
    assert [str(path) for path in product if folders.search(path.read_text())] == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_a_run_without_a_display_says_so_and_names_the_cli(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, ROOT / "dev.py", "run"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "no display" in done.stderr
    assert "python3 dev.py run list" in done.stderr


def test_tasks_start_in_one_place_only() -> None:
    """Task groups are fine anywhere: they end what they start."""
    calls = re.compile(r"\b(create_task|ensure_future)\(")
    starting = [path for path in ROOT.glob("app/**/*.py") if calls.search(path.read_text())]
    assert [str(path.relative_to(ROOT)) for path in starting] == ["app/mcp_patchbay/engine/tasks.py"]
