"""Placeholders: what is filled in, what stays, and what is hidden afterwards."""

from __future__ import annotations

import pytest

from mcp_patchbay.domain.errors import ConfigError, SecretError
from mcp_patchbay.domain.placeholders import (
    looks_secret,
    moved_references,
    redact,
    resolve_target,
    secret_reference,
    secret_references,
)
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer

ENVIRON = {"CASE_TOKEN": "secret-123", "CASE_PORT": "9103", "EMPTY": "", "HOME": "/home/u"}


class Stored:
    """`domain.ports.Secrets` in memory."""

    def __init__(self, **secrets: str) -> None:
        self.secrets = secrets

    async def get(self, server_id: str, field: str) -> str | None:
        return self.secrets.get(f"{server_id}/{field}")


async def resolved_url(url: str) -> str:
    target, _ = await resolve_target(HttpServer(url), Stored(), ENVIRON)
    assert isinstance(target, HttpServer)
    return target.url


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Bearer ${CASE_TOKEN}", "Bearer secret-123"),
        ("Bearer ${env:CASE_TOKEN}", "Bearer secret-123"),
        ("http://h:${CASE_PORT:-1}/mcp", "http://h:9103/mcp"),
        ("http://h:${UNSET:-9103}/mcp", "http://h:9103/mcp"),
        ("${env:UNSET:-x}${UNSET:-}", "x"),
        ("${EMPTY}|${EMPTY:-full}", "|full"),
        ("${CASE_PORT}${CASE_PORT}", "91039103"),
    ],
)
async def test_variables_are_filled_in(text: str, wanted: str) -> None:
    assert await resolved_url(text) == wanted


@pytest.mark.parametrize(
    "text", ["$HOME", "$$", "price $5", "pa${ss", "${}", "${a b}", "${5}", "%HOME%", "}${", "{HOME}"]
)
async def test_what_only_looks_alike_stays_as_it_is(text: str) -> None:
    assert await resolved_url(text) == text


async def test_a_variable_that_is_not_set_is_named_with_its_field() -> None:
    target = HttpServer("http://h", headers={"Authorization": "Bearer ${CASE_UNSET}"})
    with pytest.raises(ConfigError, match="CASE_UNSET is not set") as caught:
        await resolve_target(target, Stored(), ENVIRON)
    assert caught.value.field == "headers.Authorization"


async def test_a_placeholder_of_an_unknown_kind_is_named_and_not_sent() -> None:
    with pytest.raises(ConfigError, match=r"\$\{input:tok\}") as caught:
        await resolve_target(StdioServer("x", env={"T": "${input:tok}"}), Stored(), ENVIRON)
    assert "${NAME}" in str(caught.value.hint)


async def test_every_part_of_a_command_is_filled_in() -> None:
    target = StdioServer("${HOME}/run", ("--port=${CASE_PORT}", "$HOME"), {"T": "${CASE_TOKEN}"}, "${HOME}/work")
    filled, _ = await resolve_target(target, Stored(), ENVIRON)
    assert filled == StdioServer("/home/u/run", ("--port=9103", "$HOME"), {"T": "secret-123"}, "/home/u/work")


async def test_options_of_a_builtin_are_filled_in_at_any_depth() -> None:
    target = BuiltinServer("filesystem", {"allowed": ["${HOME}/a"], "deep": {"x": ["${CASE_PORT}", 5, None]}})
    filled, _ = await resolve_target(target, Stored(), ENVIRON)
    assert filled == BuiltinServer("filesystem", {"allowed": ["/home/u/a"], "deep": {"x": ["9103", 5, None]}})


async def test_secrets_come_from_the_store_and_are_masked_afterwards() -> None:
    target = HttpServer("https://h/mcp", headers={"Authorization": f"Bearer {secret_reference('id1', 'headers.A')}"})
    filled, masks = await resolve_target(target, Stored(**{"id1/headers.A": "s3cret value"}), {})
    assert isinstance(filled, HttpServer)
    assert filled.headers["Authorization"] == "Bearer s3cret value"
    assert redact("sent Bearer s3cret value to h", masks) == "sent ••• to h"
    assert redact(b"only s3cret value here", masks) == "only ••• here".encode()
    assert redact("GET /?k=s3cret%20value", masks) == "GET /?k=•••"


async def test_a_secret_in_json_or_over_lines_is_masked_too() -> None:
    target = StdioServer("x", env={"KEY": "${secret:i/env.KEY}"})
    _, masks = await resolve_target(target, Stored(**{"i/env.KEY": 'line"one\nline two'}), {})
    assert redact('{"key": "line\\"one\\nline two"}', masks) == '{"key": "•••"}'
    assert redact("it said line two", masks) == "it said •••"


async def test_a_token_written_in_the_file_or_taken_from_a_variable_is_masked_too() -> None:
    target = HttpServer("https://h/?t=${CASE_TOKEN}", headers={"Authorization": "Bearer plain-token", "X-O": "other"})
    _, masks = await resolve_target(target, Stored(), ENVIRON)
    assert redact("plain-token secret-123 other", masks) == "••• ••• other"


async def test_a_missing_secret_names_the_field_and_no_value() -> None:
    target = HttpServer("https://h", headers={"Cookie": "${secret:i/headers.Cookie}"})
    with pytest.raises(SecretError, match=r"headers\.Cookie"):
        await resolve_target(target, Stored(), {})


def test_short_values_are_not_masked_as_they_stand_everywhere() -> None:
    assert redact("abc abcd", ("abc", "abcd")) == "abc •••"


def test_the_longer_of_two_secrets_is_masked_first() -> None:
    assert redact("token-extended", ("token", "token-extended")) == "•••"


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "Cookie",
        "Proxy-Authorization",
        "X-Api-Key",
        "GITHUB_TOKEN",
        "apiKey",
        "OPENAI_API_KEY",
        "DB_PASSWORD",
        "passwd",
        "client_secret",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_PAT",
        "X-Auth",
        "Credentials",
    ],
)
def test_names_that_hold_secrets_are_known(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "Accept", "Content-Type", "AUTHOR", "MONKEY", "KEYBOARD", "PATTERN", "X-Request-Id"],
)
def test_harmless_names_are_left_alone(name: str) -> None:
    assert not looks_secret(name)


def test_the_secrets_of_a_server_are_found_wherever_they_stand() -> None:
    spec = ServerSpec("s", StdioServer("x", ("--k=${secret:a/f.1}",), {"E": "${secret:b/env.E}${secret:b/env.F}"}))
    assert secret_references(spec) == {("a", "f.1"), ("b", "env.E"), ("b", "env.F")}


def test_a_copy_looks_for_its_secrets_under_its_own_id() -> None:
    target = HttpServer("https://h", headers={"A": "${secret:old/headers.A}", "B": "${secret:other/headers.B}"})
    assert moved_references(target, "old", "new") == HttpServer(
        "https://h", headers={"A": "${secret:new/headers.A}", "B": "${secret:other/headers.B}"}
    )
