"""The command line as a user runs it: its output, its exit status, and what it leaves alone."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from checks.waiting import until
from servers.launch import http_server, script_path

SERVERS = {
    "files": {
        "type": "builtin",
        "builtin": "filesystem",
        "options": {"allowed_directories": [str(Path(__file__).parent)]},
        "filters": {"tools": {"block": ["write_*"]}},
    },
    "good": {"command": sys.executable, "args": [str(script_path("good"))]},
    "off": {"command": "whatever", "enabled": False},
}
MISSING = {"missing": {"command": "no-such-command-anywhere"}}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `mcp-patchbay` with a config of these servers."""

    def run(*arguments, servers=None, text=None, env=None):
        config = tmp_path / "config.json"
        config.write_text(text if text is not None else json.dumps({"mcpServers": servers or SERVERS}))
        command = [sys.executable, "-m", "mcp_patchbay.main", *arguments, "--config", str(config)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, cwd=tmp_path, env={**os.environ, **(env or {})}
        )

    return run


def test_list_starts_nothing_and_names_every_server(run):
    done = run("list", "--json", servers={**SERVERS, **MISSING})
    assert done.returncode == 0
    listed = json.loads(done.stdout)["servers"]
    assert [(one["name"], one["transport"], one["enabled"]) for one in listed] == [
        ("files", "builtin", True),
        ("good", "stdio", True),
        ("off", "stdio", False),
        ("missing", "stdio", True),
    ]


def test_check_is_well_when_every_enabled_server_is_ready(run):
    done = run("check", "--json")
    assert done.returncode == 0, done.stderr
    by_name = {one["name"]: one for one in json.loads(done.stdout)["servers"]}
    assert {name: one["state"] for name, one in by_name.items()} == {
        "files": "ready",
        "good": "ready",
        "off": "disabled",
    }
    assert (by_name["files"]["tools"], by_name["files"]["tools_total"]) == (10, 11)
    assert set(by_name["good"]) == {
        "name", "state", "health", "transport", "protocol", "tools", "tools_total", "prompts", "resources",
        "connect_ms", "error",
    }  # fmt: skip
    assert by_name["off"]["health"]["level"] == "off"


def test_check_of_a_missing_command_says_what_was_searched(run):
    done = run("check", "--json", servers={**SERVERS, **MISSING})
    assert done.returncode == 1
    failed = json.loads(done.stdout)["servers"][-1]
    assert failed["state"] == "failed"
    assert "no-such-command-anywhere was not found" in failed["error"]
    assert "Searched for no-such-command-anywhere in: " in failed["health"]["detail"]
    assert failed["health"]["action"] == "install"


def test_check_of_chosen_servers_leaves_the_others_alone(run):
    done = run("check", "files", "--json", servers={**SERVERS, **MISSING})
    assert done.returncode == 0
    assert [one["name"] for one in json.loads(done.stdout)["servers"]] == ["files"]


def test_an_unknown_server_is_wrong_use(run):
    done = run("check", "nobody")
    assert done.returncode == 2
    assert "MCP Client nobody not found" in done.stderr


def test_tools_lists_what_is_visible_and_all_with_what_is_held_back(run):
    visible = json.loads(run("tools", "files", "--json").stdout)["tools"]
    assert len(visible) == 10
    everything = json.loads(run("tools", "files", "--json", "--all").stdout)["tools"]
    blocked = [tool for tool in everything if not tool["visible"]]
    assert [(tool["name"], tool["decided_by"]) for tool in blocked] == [("write_file", "block write_*")]
    assert set(blocked[0]) == {
        "server", "name", "id", "title", "description", "inputSchema", "visible", "decided_by",
    }  # fmt: skip


def test_prompts_of_one_server(run):
    done = run("prompts", "good", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["prompts"][0]["server"] == "good"


def test_call_prints_the_answer(run):
    done = run("call", "good", "echo", '{"text": "hello"}', "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] is True
    assert answer["result"]["content"][0]["text"] == "hello"
    assert answer["error"] is None
    assert answer["ms"] > 0
    assert run("call", "good", "echo", '{"text": "hello"}').stdout == "hello\n"


def test_a_tool_that_says_no_is_status_1(run):
    done = run("call", "good", "fail", "--json")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    assert "as asked" in answer["error"]


def test_a_blocked_tool_is_refused(run):
    done = run("call", "files", "write_file", '{"path": "x", "content": "y"}', "--json")
    assert done.returncode == 1
    assert "write_*" in json.loads(done.stdout)["error"]


@pytest.mark.parametrize("arguments", ["[1]", "{", '"text"'])
def test_arguments_that_are_no_json_object_are_wrong_use(run, arguments):
    done = run("call", "good", "echo", arguments)
    assert done.returncode == 2
    assert "JSON" in done.stderr


@pytest.mark.parametrize("arguments", [["check", "--nonsense"], ["call", "good"], ["tools", "--timeout", "-1"]])
def test_wrong_words_are_wrong_use(run, arguments):
    assert run(*arguments).returncode == 2


def test_a_mistyped_command_is_answered_with_the_commands(run):
    done = run("chekc")
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("list", "check", "tools", "prompts", "call"))


def test_a_timeout_that_is_no_number_is_named(run):
    done = run("check", "--timeout", "soon")
    assert done.returncode == 2
    assert "soon is not a number of seconds above 0" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_while_a_server_starts_leaves_no_process(tmp_path, number):
    marker = tmp_path / "pid"
    program = f"import os, pathlib, time; pathlib.Path({str(marker)!r}).write_text(str(os.getpid())); time.sleep(600)"
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mcpServers": {"mute": {"command": sys.executable, "args": ["-c", program]}}}))
    command = [sys.executable, "-m", "mcp_patchbay.main", "check", "--config", str(config)]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # a shell starts what is in the background without
    )  # fmt: skip
    try:
        await until(lambda: marker.exists() and marker.read_text())
        process.send_signal(number)
        said, _ = await asyncio.wait_for(process.communicate(), 30)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 128 + number
    assert b"Traceback" not in said
    assert not psutil.pid_exists(int(marker.read_text()))


def test_a_broken_config_says_line_and_column(run):
    done = run("list", text='{"mcpServers": {\n  "a": {"command" "x"}\n}}')
    assert done.returncode == 2
    assert "line 2" in done.stderr.lower()
    assert "column" in done.stderr.lower()


def test_a_call_past_its_timeout_fails(run):
    done = run("call", "good", "slow", '{"steps": 1, "seconds": 20}', "--timeout", "3", "--json")
    assert done.returncode == 1
    assert "timed out after 3 s" in json.loads(done.stdout)["error"]


def test_a_config_may_be_a_json_array(run):
    text = json.dumps([{"name": "files", **SERVERS["files"]}])
    assert run("check", "--json", text=text).returncode == 0


async def test_an_http_server_that_wants_a_key_needs_auth(run):
    async with http_server("header_check") as url:
        done = run("check", "--json", servers={"closed": {"url": url}})
    assert done.returncode == 1
    assert json.loads(done.stdout)["servers"][0]["state"] == "needs_auth"


def test_servers_of_the_environment_are_there_for_one_run(tmp_path):
    extra = json.dumps([{"name": "from-env", "command": sys.executable, "args": [str(script_path("good"))]}])
    done = subprocess.run(
        [sys.executable, "-m", "mcp_patchbay.main", "check", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "MCP_SERVERS": extra, "XDG_CONFIG_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert [one["name"] for one in json.loads(done.stdout)["servers"]] == ["from-env"]
    assert not list(Path(tmp_path).rglob("servers.json"))


def test_the_command_line_imports_no_qt(tmp_path):
    program = (
        "import sys; from mcp_patchbay.main import main; "
        f"main(['list', '--config', {str(tmp_path / 'c.json')!r}]); "
        "assert not {'PySide6', 'qasync', 'shiboken6'} & set(sys.modules)"
    )
    (tmp_path / "c.json").write_text("[]")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_without_a_display_the_command_line_is_named():
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.pop("QT_QPA_PLATFORM", None)
    done = subprocess.run(
        [sys.executable, "-m", "mcp_patchbay.main"], capture_output=True, text=True, timeout=60, env=env
    )
    assert done.returncode == 2
    assert "mcp-patchbay list" in done.stderr
