"""The state machine of one server, as a table of what follows from what."""

import pytest

from mcp_patchbay.domain.errors import AuthError, ConnectionLostError, LaunchError, field_error
from mcp_patchbay.domain.messages import plain
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine.transitions import (
    LONGEST_PAUSE,
    MAX_ATTEMPTS,
    Broke,
    Connect,
    Connected,
    Disconnect,
    Ended,
    Expired,
    Nothing,
    Pause,
    PauseOver,
    Position,
    Proved,
    Unwanted,
    Wanted,
    advance,
    pause_after,
)

LOST = ConnectionLostError(plain("lost"), plain("lost"))
SIGN_IN = AuthError(plain("sign in"), plain("sign in"), status=401)
MISSING = LaunchError(plain("missing"), plain("missing"))


@pytest.mark.parametrize(
    "state",
    [s for s in ServerState if s not in (ServerState.CONNECTING, ServerState.READY, ServerState.STOPPING)],
)
def test_wanting_a_server_that_rests_connects_it_and_counts_anew(state):
    assert advance(Position(state, attempt=7, error=LOST), Wanted()) == (
        Position(ServerState.CONNECTING, attempt=1),
        Connect(),
    )


@pytest.mark.parametrize("state", [ServerState.CONNECTING, ServerState.READY, ServerState.STOPPING])
def test_wanting_a_server_that_is_busy_changes_nothing(state):
    position = Position(state, attempt=3)
    assert advance(position, Wanted()) == (position, Nothing())


def test_a_connection_that_works_is_ready():
    after, action = advance(Position(ServerState.CONNECTING, attempt=2, error=LOST), Connected())
    assert (after, action) == (Position(ServerState.READY, attempt=2), Nothing())


def test_a_failed_try_is_repeated_after_a_pause():
    after, action = advance(Position(ServerState.CONNECTING, attempt=1), Broke(LOST))
    assert after == Position(ServerState.RETRYING, attempt=1, error=LOST)
    assert action == Pause(1.0)
    assert advance(after, PauseOver()) == (Position(ServerState.CONNECTING, attempt=2, error=LOST), Connect())


def test_a_lost_connection_is_retried_too():
    after, action = advance(Position(ServerState.READY), Broke(LOST))
    assert after.state is ServerState.RETRYING
    assert action == Pause(1.0)


def test_the_pauses_double_up_to_the_longest():
    assert [pause_after(n) for n in range(1, 9)] == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE]


def test_a_server_that_keeps_failing_is_given_up_after_the_last_try():
    position, starts = Position(), 0
    position, action = advance(position, Wanted())
    while True:
        assert isinstance(action, Connect)
        starts += 1
        position, _ = advance(position, Connected())
        position, action = advance(position, Broke(LOST))
        if not isinstance(action, Pause):
            break
        position, action = advance(position, PauseOver())
    assert starts == MAX_ATTEMPTS
    assert position.state is ServerState.FAILED
    assert position.error is LOST


def test_a_connection_that_held_starts_the_count_anew():
    after, _ = advance(Position(ServerState.READY, attempt=6), Proved())
    assert after.attempt == 0


def test_a_refused_sign_in_waits_and_is_not_retried():
    after, action = advance(Position(ServerState.CONNECTING, attempt=1), Broke(SIGN_IN))
    assert (after.state, action) == (ServerState.NEEDS_AUTH, Nothing())
    assert advance(after, PauseOver()) == (after, Nothing())


@pytest.mark.parametrize("error", [MISSING, field_error("url", "no")])
def test_an_error_that_another_try_cannot_mend_fails_at_once(error):
    after, action = advance(Position(ServerState.CONNECTING, attempt=1), Broke(error))
    assert (after.state, action) == (ServerState.FAILED, Nothing())


@pytest.mark.parametrize("state", [ServerState.CONNECTING, ServerState.READY])
@pytest.mark.parametrize(("disabled", "rest"), [(True, ServerState.DISABLED), (False, ServerState.STOPPED)])
def test_stopping_a_running_server_passes_through_stopping(state, disabled, rest):
    after, action = advance(Position(state), Unwanted(disabled))
    assert (after.state, action) == (ServerState.STOPPING, Disconnect())
    assert advance(after, Ended(disabled)) == (Position(rest), Nothing())


@pytest.mark.parametrize("state", [ServerState.RETRYING, ServerState.FAILED, ServerState.NEEDS_AUTH])
def test_stopping_a_server_that_waits_forgets_its_error(state):
    assert advance(Position(state, 3, LOST), Unwanted()) == (Position(ServerState.STOPPED), Nothing())


def test_a_forgotten_session_is_renewed_at_once():
    after, action = advance(Position(ServerState.READY), Expired())
    assert (after.state, action) == (ServerState.CONNECTING, Connect())


def test_news_that_comes_too_late_changes_nothing():
    for position in (Position(ServerState.STOPPED), Position(ServerState.FAILED, 8, LOST)):
        for late in (Connected(), Broke(SIGN_IN), PauseOver(), Expired(), Proved()):
            assert advance(position, late) == (position, Nothing())
