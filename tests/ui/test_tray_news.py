"""What the tray tells, and what it does not."""

import pytest

from mcp_patchbay.domain.errors import ConnectionLostError
from mcp_patchbay.domain.messages import plain
from mcp_patchbay.domain.servers import ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui.tray_news import NewsDesk

S = ServerState


def snapshot(state: ServerState, name: str = "a") -> Snapshot:
    error = ConnectionLostError(plain("Lost"), plain("password refused")) if state is S.FAILED else None
    return Snapshot(ServerSpec(name, StdioServer("x")), state, error=error)


def told(*states: ServerState) -> list[str | None]:
    desk = NewsDesk()
    return [news.trouble for state in states for news in desk.hear([snapshot(state)])]


@pytest.mark.parametrize(
    ("states", "news"),
    [
        ((S.STOPPED, S.CONNECTING, S.READY), []),
        ((S.CONNECTING, S.RETRYING, S.CONNECTING, S.READY), []),
        ((S.READY, S.RETRYING, S.CONNECTING, S.FAILED), ["failed"]),
        ((S.FAILED, S.FAILED, S.CONNECTING, S.RETRYING, S.FAILED), ["failed"]),
        ((S.FAILED, S.CONNECTING, S.READY), ["failed", None]),
        ((S.FAILED, S.CONNECTING, S.READY, S.FAILED), ["failed", None, "failed"]),
        ((S.NEEDS_AUTH, S.CONNECTING, S.READY), ["needs_auth", None]),
        ((S.NEEDS_AUTH, S.FAILED), ["needs_auth", "failed"]),
        ((S.FAILED, S.STOPPING, S.STOPPED, S.CONNECTING, S.READY), ["failed"]),
        ((S.FAILED, S.DISABLED, S.CONNECTING, S.READY), ["failed"]),
    ],
)
def test_one_trouble_is_told_once_and_its_end_too(states: tuple[ServerState, ...], news: list[str | None]) -> None:
    assert told(*states) == news


def test_a_server_that_was_deleted_is_forgotten() -> None:
    desk = NewsDesk()
    assert len(desk.hear([snapshot(S.FAILED)])) == 1
    assert desk.hear([]) == []
    assert [news.trouble for news in desk.hear([snapshot(S.FAILED)])] == ["failed"]


def test_servers_are_told_apart() -> None:
    desk = NewsDesk()
    desk.hear([snapshot(S.READY, "a"), snapshot(S.READY, "b")])
    news = desk.hear([snapshot(S.READY, "a"), snapshot(S.FAILED, "b")])
    assert [one.snapshot.name for one in news] == ["b"]
