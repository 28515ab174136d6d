"""How exceptions become words."""

import pytest

from mcp_patchbay.engine.failures import last_words

NODE = b"""node:internal/modules/cjs/loader:1215
  throw err;
  ^

Error: Cannot find module '/srv/nothing.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1212:15)
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.20.0"""
PYTHON = b"""Traceback (most recent call last):
  File "server.py", line 3, in <module>
    main()
ModuleNotFoundError: No module named 'mcp'"""


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (NODE, b"Error: Cannot find module '/srv/nothing.js'"),
        (PYTHON, b"ModuleNotFoundError: No module named 'mcp'"),
        (b"reading the config\nfatal: no config", b"fatal: no config"),
        (b"cannot start: the database is locked", b"cannot start: the database is locked"),
        (
            b"npm error code E404\nnpm error 404 Not Found - GET it\nnpm error 404\nnpm error A complete log",
            b"npm error 404 Not Found - GET it",
        ),
    ],
)
def test_the_last_words_are_the_line_that_names_the_error(output: bytes, said: bytes) -> None:
    assert last_words(output.split(b"\n")) == said


def test_a_silent_process_has_no_last_words() -> None:
    assert last_words([]) == b""
