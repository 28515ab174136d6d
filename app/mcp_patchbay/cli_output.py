"""What the command line prints for people: aligned tables, colour on a terminal only, a progress line meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcp_patchbay.domain.events import StateChanged
from mcp_patchbay.domain.state import ServerState

if TYPE_CHECKING:
    from mcp_patchbay.engine.hub import ServerHub

LEVEL_STYLES = {"ok": "green", "busy": "yellow", "warning": "yellow", "error": "red", "off": "dim"}
PIPE_WIDTH = 1000
"""Columns when the output is no terminal: nothing is cut or wrapped there."""


@contextmanager
def starting(hub: ServerHub, names: Sequence[str], *, quiet: bool) -> Iterator[None]:
    """Show a line of progress on a terminal while the servers start."""
    errors = Console(stderr=True)
    if quiet or not errors.is_terminal:
        yield
        return
    waiting = set(names)
    with errors.status(_progress(waiting, len(names))) as status:

        def on_event(event: object) -> None:
            if isinstance(event, StateChanged) and event.snapshot.state is not ServerState.CONNECTING:
                waiting.discard(event.snapshot.name)
                status.update(_progress(waiting, len(names)))

        unsubscribe = hub.subscribe(on_event)
        try:
            yield
        finally:
            unsubscribe()


def show(what: str, answer: Mapping[str, Any]) -> None:
    """Print the answer of one command for a person."""
    console = Console(highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, emoji=False, width=PIPE_WIDTH)
    {"list": _list, "check": _check, "tools": _offers, "prompts": _offers, "call": _call}[what](console, answer)


def _list(console: Console, answer: Mapping[str, Any]) -> None:
    table = _table("Name", "On", "Transport", "Connects to")
    for server in answer["servers"]:
        row = (server["name"], "on" if server["enabled"] else "off", server["transport"], server["target"])
        table.add_row(*map(plain, row), style="" if server["enabled"] else "dim")
    _print_table(
        console, table, "There are no servers. Add one in the window, or name a file that has some: --config FILE"
    )


def _check(console: Console, answer: Mapping[str, Any]) -> None:
    table = _table("Name", "State", "Transport", "Tools", "Connected in", "Message")
    for server in answer["servers"]:
        health = server["health"]
        ready = server["state"] == "ready"
        table.add_row(
            plain(server["name"]),
            Text(server["state"], style=LEVEL_STYLES[health["level"]]),
            plain(server["transport"]),
            plain(f"{server['tools']} / {server['tools_total']}" if ready else "–"),
            plain(f"{server['connect_ms']:.0f} ms" if ready and server["connect_ms"] is not None else "–"),
            plain("" if ready else _sentences(health["summary"], health["detail"])),
        )
    _print_table(console, table, "No servers to check.")


def _offers(console: Console, answer: Mapping[str, Any]) -> None:
    (found,) = answer.values()
    table = _table("Server", "Name", "Description", "Decided by")
    for info in found:
        first_line = info["description"].strip().partition("\n")[0]
        row = (info["server"], info["name"], first_line, info["decided_by"])
        table.add_row(*map(plain, row), style="" if info["visible"] else "dim")
    _print_table(console, table, "Nothing is offered.")


def _call(console: Console, answer: Mapping[str, Any]) -> None:
    if answer["error"]:
        errors = Console(stderr=True, highlight=False)
        errors.print(Text(printable(answer["error"]), style="red"), soft_wrap=True)
        return
    for block in answer["result"].get("content") or []:
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            sys.stdout.write(printable(block["text"]).rstrip("\n") + "\n")
        else:
            sys.stdout.write(json.dumps(block, ensure_ascii=False) + "\n")


def printable(text: str) -> str:
    """A server's text without what would steer the terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)


def plain(text: object) -> Text:
    """One cell of server text: no markup, one line."""
    return Text(printable(" ".join(str(text).split("\n"))))


def _sentences(*texts: str | None) -> str:
    """Texts one after another, with a full stop between them."""
    said = [text for text in texts if text]
    return " ".join([text if text.endswith((".", "!", "?")) else f"{text}." for text in said[:-1]] + said[-1:])


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for position, column in enumerate(columns):
        last = position == len(columns) - 1
        table.add_column(column, no_wrap=not last, overflow="fold" if last else "ellipsis")
    return table


def _print_table(console: Console, table: Table, empty: str) -> None:
    if table.row_count:
        console.print(table)
    else:
        console.print(empty)


def _progress(waiting: set[str], total: int) -> str:
    names = ", ".join(sorted(waiting))
    return f"{total - len(waiting)} of {total} servers started" + (f", waiting for {names}" if names else "")
