"""Headers as people paste them."""

from __future__ import annotations

import pytest

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.engine.http import clean_headers, http_transport, shown_url


@pytest.mark.parametrize(
    ("pasted", "sent"),
    [
        ("Bearer secret-123", "Bearer secret-123"),
        ("bearer secret-123", "bearer secret-123"),
        ("secret-123", "secret-123"),
        ("Bearer secret-123\n", "Bearer secret-123"),
        ("  Bearer secret-123  ", "Bearer secret-123"),
        ("Authorization: Bearer secret-123", "Bearer secret-123"),
        ("Basic dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"),
        ("a:b:c", "a:b:c"),
    ],
)
def test_a_value_is_trimmed_and_otherwise_sent_as_it_is(pasted: str, sent: str) -> None:
    assert clean_headers({"Authorization": pasted}) == {"Authorization": sent}


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_an_empty_header_is_not_sent(empty: str) -> None:
    assert clean_headers({"Authorization": empty}) == {}


@pytest.mark.parametrize(
    "value",
    ["Bearer secret-123\r\nX-Evil: 1", "Bearer secret-123 s\u00e9cret", "Bearer secret-123\u200b", "secret-123\0x"],
)
def test_a_value_that_cannot_be_sent_is_refused_by_the_name_of_its_header_alone(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        http_transport("http://127.0.0.1:9/mcp", headers={"X-Api-Key": value})
    assert caught.value.field == "headers.X-Api-Key"
    assert "X-Api-Key" in str(caught.value)
    assert "cret" not in f"{caught.value!r} {caught.value} {caught.value.hint}"


@pytest.mark.parametrize("name", ["", "a b", "x:y", "Content-Length", "Mcp-Session-Id"])
def test_a_name_that_cannot_be_sent_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        clean_headers({name: "x"})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:secret@host:8080/mcp?token=secret#secret", "https://host:8080/mcp"),
        ("http://host", "http://host"),
        ("https://host/${secret:ID/path}", "https://host/${secret:ID/path}"),
        ("http://[bad", "the URL"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown
