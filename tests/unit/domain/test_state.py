"""What each state means for a person."""

import pytest

from mcp_patchbay.domain.errors import AuthError, ConfigError, ConnectionLostError, LaunchError, PatchbayError
from mcp_patchbay.domain.messages import message, plain
from mcp_patchbay.domain.servers import HttpServer, ServerSpec, StdioServer, read_server
from mcp_patchbay.domain.state import CheckReport, ServerState, Snapshot, worst_level

SPEC = ServerSpec("files", StdioServer("npx", ("-y", "x")))
LOST = ConnectionLostError(plain("The server stopped"), plain("exit code 3"), plain("See its log"))
UNUSABLE = ConfigError(plain("No URL"), plain("ftp://x is no URL"), plain("Correct it"))
MISSING = LaunchError(plain("Command not found"), plain("npx was not found"), plain("Install it"))


@pytest.mark.parametrize(
    ("snapshot", "level", "summary", "action"),
    [
        (Snapshot(SPEC, ServerState.DISABLED), "off", "Switched off", ""),
        (Snapshot(SPEC, ServerState.STOPPED), "off", "Stopped", "start"),
        (Snapshot(SPEC, ServerState.CONNECTING), "busy", "Connecting", ""),
        (Snapshot(SPEC, ServerState.CONNECTING, output="40 %"), "busy", "Starting: 40 %", ""),
        (Snapshot(SPEC, ServerState.READY), "ok", "Ready", ""),
        (Snapshot(SPEC, ServerState.STOPPING), "busy", "Stopping", ""),
        (
            Snapshot(SPEC, ServerState.RETRYING, error=LOST, attempt=2, attempts=8),
            "warning",
            "exit code 3 · try 2 of 8",
            "retry",
        ),
        (Snapshot(SPEC, ServerState.NEEDS_AUTH), "warning", "Sign-in needed to see its tools", "sign_in"),
        (Snapshot(SPEC, ServerState.FAILED, error=LOST), "error", "exit code 3", "retry"),
        (Snapshot(SPEC, ServerState.FAILED, error=MISSING), "error", "npx was not found", "install"),
        (Snapshot(SPEC, ServerState.FAILED, error=UNUSABLE), "error", "ftp://x is no URL", "edit"),
    ],
    ids=lambda value: value.state.value if isinstance(value, Snapshot) else None,
)
def test_a_state_has_a_level_one_line_and_what_helps(snapshot: Snapshot, level: str, summary: str, action: str) -> None:
    health = snapshot.health
    assert (health.level, str(health.summary), health.action) == (level, summary, action)


@pytest.mark.parametrize("state", ServerState)
@pytest.mark.parametrize("error", [None, LOST, MISSING], ids=["no error", "lost", "missing"])
def test_every_state_has_a_readable_summary_with_and_without_an_error(
    state: ServerState, error: PatchbayError | None
) -> None:
    health = Snapshot(SPEC, state, error=error).health
    assert isinstance(str(health.summary), str)
    assert "None" not in str(health.summary)


@pytest.mark.parametrize("error", [None, LOST, MISSING])
def test_a_disabled_server_is_never_red(error: PatchbayError | None) -> None:
    assert Snapshot(SPEC, ServerState.DISABLED, error=error).health.level == "off"


def test_a_pasted_server_shows_what_it_would_run_and_asks_for_a_start() -> None:
    spec = ServerSpec("files", StdioServer("npx", ("-y", "x")), unconfirmed=True)
    health = Snapshot(spec, ServerState.STOPPED).health
    assert (str(health.summary), str(health.detail), health.action) == (
        "Waits for your first Start",
        "npx -y x",
        "start",
    )


def test_an_entry_that_cannot_be_used_says_what_is_wrong() -> None:
    spec = read_server("typo", {"comand": "x"})
    health = Snapshot(spec, ServerState.DISABLED).health
    assert (health.level, str(health.summary), health.action) == (
        "off",
        "No command or url provided for server",
        "edit",
    )


def test_details_tell_what_to_do() -> None:
    assert str(Snapshot(SPEC, ServerState.FAILED, error=LOST).health.detail) == "See its log"
    refused = AuthError(plain("Refused"), plain("401: the token was rejected"))
    assert str(Snapshot(SPEC, ServerState.NEEDS_AUTH, error=refused).health.detail) == "401: the token was rejected"


def test_the_tray_shows_the_worst_of_all() -> None:
    def of(*states: ServerState) -> str:
        return worst_level([Snapshot(SPEC, state, error=LOST) for state in states])

    assert of() == "off"
    assert of(ServerState.DISABLED, ServerState.STOPPED) == "off"
    assert of(ServerState.DISABLED, ServerState.READY) == "ok"
    assert of(ServerState.READY, ServerState.CONNECTING) == "busy"
    assert of(ServerState.CONNECTING, ServerState.NEEDS_AUTH) == "warning"
    assert of(ServerState.RETRYING, ServerState.FAILED, ServerState.READY) == "error"


def test_a_check_is_good_only_when_the_server_became_ready() -> None:
    assert CheckReport(Snapshot(SPEC, ServerState.READY)).ok
    assert not CheckReport(Snapshot(SPEC, ServerState.FAILED)).ok


def test_a_state_message_is_translatable() -> None:
    assert Snapshot(ServerSpec("a", HttpServer("http://x")), ServerState.READY).health.summary == message(
        "health.ready"
    )
