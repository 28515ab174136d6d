"""What looks like a secret is hidden before a command or URL is shown in passing or copied."""

from __future__ import annotations

import pytest

from mcp_patchbay.domain.servers import HttpServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui.details.facts import launch_text, report
from mcp_patchbay.ui.masking import masked_url, masked_words


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["npx", "-y", "server", "--token", "abc"], ["npx", "-y", "server", "--token", "•••"]),
        (["server", "--api-key=abc", "x"], ["server", "--api-key=•••", "x"]),
        (["docker", "run", "-e", "API_TOKEN=abc"], ["docker", "run", "-e", "API_TOKEN=•••"]),
        (["server", "--token", "${secret:a/args}"], ["server", "--token", "${secret:a/args}"]),
        (["server", "--token", "--verbose", "x"], ["server", "--token", "--verbose", "x"]),
        (["server", "postgres://me:abc@db/shop"], ["server", "postgres://me:•••@db/shop"]),
        (["uvx", "mcp-server-time", "--local-timezone=UTC"], ["uvx", "mcp-server-time", "--local-timezone=UTC"]),
    ],
)
def test_the_values_of_secret_looking_options_are_masked(words, shown):
    assert masked_words(words) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/mcp", "https://example.org/mcp"),
        ("https://me:abc@example.org/mcp", "https://me:•••@example.org/mcp"),
        ("https://example.org/mcp?api_key=abc&page=2", "https://example.org/mcp?api_key=•••&page=2"),
        ("https://example.org/mcp?token=${secret:a/url}", "https://example.org/mcp?token=${secret:a/url}"),
        ("http://[::1", "http://[::1"),
    ],
)
def test_passwords_and_keys_in_a_url_are_masked(url, shown):
    assert masked_url(url) == shown


@pytest.mark.parametrize(
    "target",
    [StdioServer("npx", ("server", "--token", "hunter2")), HttpServer("https://me:hunter2@example.org/?key=hunter2")],
)
def test_the_report_for_the_clipboard_holds_no_secret(qapp, target):
    snapshot = Snapshot(ServerSpec("a", target), ServerState.FAILED, 1.0)
    assert "hunter2" not in report(snapshot, 2.0)
    assert "hunter2" in launch_text(snapshot.spec)  # who agrees to a command must see all of it


def test_a_variable_that_is_kept_in_the_keyring_is_shown_without_its_placeholder(qapp):
    target = StdioServer("npx", ("server",), {"API": "${secret:0a1b/env.API}", "MODE": "fast"})
    assert launch_text(ServerSpec("a", target)) == "npx server\nwith API=••• MODE=fast"
