"""One configuration with servers of all kinds: the window and the command line say the same of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import StartApp
from e2e.sample_servers import OFF, by_npx, everything_at_url, npm, stdio, url_server

IN_WORDS = {"ready": "Ready", "needs_auth": "Needs sign-in", "failed": "Failed", "disabled": "Off"}
NOBODY = "http://127.0.0.1:9/mcp"


@pytest.mark.limit(240)
def test_window_and_check_agree_on_every_kind_of_server(start_app: StartApp, tmp_path: Path) -> None:
    files = {"type": "builtin", "builtin": "filesystem", "options": {"allowed_directories": [str(tmp_path)]}}
    with (
        everything_at_url("http") as http,
        everything_at_url("sse") as sse,
        url_server("header_check") as locked,
    ):
        servers = {
            "everything": by_npx("mcp-server-everything"),
            "everything-http": {"url": http},
            "everything-sse": {"type": "sse", "url": sse},
            "projects": npm("server-filesystem"),
            "memory": npm("server-memory"),
            "weather": stdio("good"),
            "notes": stdio("two_tools"),
            "files": files,
            "missing": {"command": "no-such-command-of-patchbay"},
            "locked": {"url": locked},
            "refused": {"url": NOBODY},
            "off": OFF,
        }
        servers["projects"]["args"].append(str(tmp_path))
        app = start_app(servers=servers)
        wanted = dict.fromkeys(servers, "Ready")
        wanted |= {"missing": "Failed", "locked": "Needs sign-in", "off": "Off"}
        del wanted["refused"]
        app.until_table(**wanted)
        app.until(lambda: app.table()["refused"].startswith("Retrying"), "one that refuses is tried again")
        app.terminate()
        status, checked = app.command_line("check")
        assert status == 1
        said = {server["name"]: IN_WORDS[server["state"]] for server in checked["servers"]}
        assert said == {**wanted, "refused": "Failed"}  # a check is not tried again
        transports = {server["name"]: server["transport"] for server in checked["servers"]}
        assert (transports["everything-http"], transports["everything-sse"]) == ("streamable-http", "sse")
