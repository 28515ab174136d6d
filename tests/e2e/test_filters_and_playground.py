"""Filters and time limits typed in the editor hold everywhere at once; tools are called by keyboard."""

from __future__ import annotations

from e2e.conftest import StartApp
from e2e.running_app import TOOLS, RunningApp
from e2e.sample_servers import npm, stdio

ALL_BUT_BLOCKED = ["allowed-tool", "pattern-a", "pattern-b", "other"]
LONG = "trigger-long-running-operation"


def listed(app: RunningApp) -> list[str]:
    """What the playground's tree shows."""
    return [row[0]["name"] for row in app.reader.rows("Tools by server")]


def open_playground(app: RunningApp, server: str, first_tool: str) -> None:
    """Open it on a server and wait until its first tool can be filled in."""
    app.select(server)
    app.key("ctrl+p")
    app.until_open("Playground")
    app.until(lambda: first_tool in listed(app), f"{first_tool} is listed")


def choose(app: RunningApp, tool: str) -> None:
    """Click on a tool of the playground's tree."""
    rows = app.until(lambda: [row for row in app.reader.rows("Tools by server") if row[0]["name"] == tool], tool)
    app.click(rows[0][0])
    app.until(lambda: app.thing(tool, "label"), f"{tool} is chosen")


def test_a_filter_typed_in_the_editor_holds_in_table_playground_and_command_line(start_app: StartApp) -> None:
    app = start_app(servers={"two": stdio("two_tools")})
    app.until_table(two="Ready")
    open_playground(app, "two", "blocked-tool")
    app.activate()
    app.select("two")
    app.key("F2")
    app.until_open("Edit server")
    app.press("Filters", "page tab")
    app.type_into("Block", "blocked-*")
    app.press("Save")
    app.until(lambda: app.row("two")[TOOLS]["name"] == "4 of 5 tools visible", "the table counts without it")
    app.until(lambda: set(ALL_BUT_BLOCKED) < set(listed(app)), "the playground lists the others")
    app.until(lambda: "blocked-tool" not in listed(app), "the playground does not list it")
    assert app.saved()["two"]["filters"]["tools"]["block"] == ["blocked-*"]
    status, tools = app.command_line("tools", "two")
    assert status == 0
    assert [tool["name"] for tool in tools["tools"]] == ALL_BUT_BLOCKED
    status, called = app.command_line("call", "two", "blocked-tool", "{}")
    assert (status, called["ok"]) == (1, False)
    assert "blocked-*" in str(called["error"])


def test_a_time_limit_typed_in_the_editor_holds(start_app: StartApp) -> None:
    app = start_app(servers={"weather": stdio("good")})
    app.until_table(weather="Ready")
    app.select("weather")
    app.key("F2")
    app.until_open("Edit server")
    app.type_into("Time limit for one tool call", "0.5")
    app.press("Save")
    app.until(lambda: app.saved()["weather"].get("timeout") == 0.5, "it is saved")
    open_playground(app, "weather", "slow")
    choose(app, "slow")
    app.type_into("seconds", "30")
    app.type_into("steps", "1")  # each step's report would give it more time
    app.key("ctrl+Return")
    app.until_said("0.5 s")
    app.until_said("Timed out")


def test_npms_everything_server_is_tried_by_keyboard(start_app: StartApp) -> None:
    app = start_app(servers={"everything": npm("server-everything")})
    app.until_table(everything="Ready")
    open_playground(app, "everything", "echo")
    app.type_into("message", "hello from the keyboard")
    app.key("ctrl+Return")
    app.until_said("Echo: hello from the keyboard")

    choose(app, LONG)
    app.type_into("duration", "60")
    app.type_into("steps", "120")
    app.key("ctrl+Return")
    app.until(lambda: (bar := app.thing("Progress")) and bar["value"], "the progress bar moves")
    app.press("Cancel")
    app.until_said("Cancelled")

    choose(app, "get-tiny-image")
    app.key("ctrl+Return")
    app.until(lambda: any(t["name"].startswith("Picture · image/png") for t in app.reader.seen()), "an image is shown")

    app.activate()
    app.press("Traffic", "page tab")
    app.until(
        lambda: any("notifications/cancelled" in cell["name"] for row in app.reader.rows("Traffic") for cell in row),
        "the server was told of the cancel",
    )
