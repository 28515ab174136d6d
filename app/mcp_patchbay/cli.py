"""Headless commands on the same engine as the window. No Qt in here.

Exit status: 0 all well; 1 when an enabled, selected server is not ready, a list fails or a tool answers with an error
(a server that is off is no failure); 2 wrong use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_patchbay import __version__
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.servers import DEFAULT_TIMEOUT, ServerSpec
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.stores.configuration import Configuration, given_configuration, users_configuration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_patchbay.engine.hub import ServerHub

COMMANDS = ("list", "check", "tools", "prompts", "call")
OK, NOT_WELL, WRONG_USE = 0, 1, 2


def wants(argv: Sequence[str]) -> bool:
    """Whether the arguments ask for the command line rather than the window.

    A first word that is no option counts too: it is a mistyped command, and the answer is to name the commands.
    """
    known = any(word in (*COMMANDS, "-h", "--help", "--version") for word in argv)
    return known or (bool(argv) and not argv[0].startswith("-"))


class UsageError(Exception):
    """Wrong use, in words for the person who typed it."""


def main(argv: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    options = _parser().parse_args(argv)
    ended_by: list[int] = []
    try:
        configuration = given_configuration(options.config) if options.config else users_configuration()
        return asyncio.run(_run_until_signal(options, configuration, ended_by))
    except asyncio.CancelledError:
        return 128 + ended_by[0]
    except UsageError as error:
        print(f"mcp-patchbay: {error}", file=sys.stderr)
        return WRONG_USE
    except PatchbayError as error:
        print(f"mcp-patchbay: {error.title}: {error.message}", file=sys.stderr)
        if error.hint:
            print(error.hint, file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has gone (`| head`): nobody is left to be told, and Python must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON for programs instead of a table")
    common.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="use this file (servers.json, an mcpServers file or a JSON array) and touch nothing of your own",
    )
    common.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="limit for connecting to a server and for one call"
    )
    parser = argparse.ArgumentParser(
        prog="mcp-patchbay",
        description="Manage MCP servers. Without a command it opens the window; --hidden starts in the tray.",
        epilog="What a command takes: mcp-patchbay COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"mcp-patchbay {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    commands.add_parser("list", parents=[common], help="show the servers, without starting them")
    check = commands.add_parser("check", parents=[common], help="start the servers and say how each is")
    check.add_argument("names", nargs="*", metavar="NAME", help="only these servers")
    for word, what in (("tools", "tools"), ("prompts", "prompts")):
        one = commands.add_parser(word, parents=[common], help=f"list the {what} that the filters let through")
        one.add_argument("server", nargs="?", metavar="SERVER", help="only this server's")
        one.add_argument("--all", action="store_true", help="also those that the filters hold back")
    call = commands.add_parser("call", parents=[common], help="call a tool and print its answer")
    call.add_argument("server", metavar="SERVER")
    call.add_argument("tool", metavar="TOOL")
    call.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help='such as \'{"path": "notes.txt"}\'')
    return parser


def window_parser() -> argparse.ArgumentParser:
    """The arguments of the window's program."""
    parser = argparse.ArgumentParser(prog="mcp-patchbay", usage="mcp-patchbay [--hidden] [--debug] | COMMAND ...")
    parser.add_argument("--hidden", action="store_true", help="start in the tray, without the window")
    parser.add_argument("--debug", action="store_true", help="write more to the app log")
    parser.add_argument("--config", type=Path, metavar="FILE", help="use this servers.json instead of your own")
    return parser


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e7:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return value


async def _run_until_signal(options: argparse.Namespace, configuration: Configuration, ended_by: list[int]) -> int:
    """`_run`; SIGTERM and a closed terminal cancel it, as Ctrl+C does, so that no server is left behind."""
    running = asyncio.current_task()
    assert running is not None

    def on_signal(number: int) -> None:
        if not ended_by:  # a second signal must not disturb the cleanup, which is bounded
            ended_by.append(number)
            running.cancel()

    if os.name == "posix":
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP: so do we then
                asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return await _run(options, configuration)


async def _run(options: argparse.Namespace, configuration: Configuration) -> int:
    if options.command == "list":
        return _list(options, configuration.specs)
    arguments = _call_arguments(options) if options.command == "call" else {}
    specs = _chosen(options, configuration.specs)
    from mcp_patchbay.builtin.registry import BuiltinServers
    from mcp_patchbay.engine.hub import ServerHub

    hub = ServerHub(
        [_limited(spec, options.timeout) for spec in specs],
        default_timeout=options.timeout or DEFAULT_TIMEOUT,
        secrets=configuration.secrets,
        builtins=BuiltinServers(),
        memory=configuration.memory,
        tokens=configuration.tokens,
        retry=False,
    )
    from mcp_patchbay.cli_output import starting

    try:
        with starting(hub, [spec.name for spec in specs if spec.enabled], quiet=options.json):
            await hub.init()
        return await _answer(options, hub, arguments)
    finally:
        await hub.cleanup()
        await configuration.close()


async def _answer(options: argparse.Namespace, hub: ServerHub, arguments: dict[str, Any]) -> int:
    snapshots = hub.snapshots()
    status = OK if all(_well(snapshot) for snapshot in snapshots) else NOT_WELL
    if options.command == "check":
        _print(options, "check", {"servers": [check_json(snapshot) for snapshot in snapshots]})
        return status
    if options.command == "call":
        outcome = await _call(hub, options.server, options.tool, arguments)
        _print(options, "call", outcome)
        return OK if outcome["ok"] else NOT_WELL
    lister = hub.list_tools if options.command == "tools" else hub.list_prompts
    found = await lister(include_hidden=options.all)
    _print(options, options.command, {options.command: [info.to_json() for info in found]})
    for snapshot in snapshots:
        if not _well(snapshot):
            print(f"mcp-patchbay: {snapshot.name}: {snapshot.health.summary}", file=sys.stderr)
    return status


def _list(options: argparse.Namespace, specs: Sequence[ServerSpec]) -> int:
    servers = [
        {
            "name": spec.name,
            "enabled": spec.enabled,
            "transport": spec.transport,
            "target": spec.target.summary(),
            "description": spec.description,
        }
        for spec in specs
    ]
    _print(options, "list", {"servers": servers})
    return OK


async def _call(hub: ServerHub, server: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The shape that `call --json` prints: `ok`, the raw MCP `result`, the `error` in words, and `ms`."""
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        result = await hub.call_tool(server, tool, arguments)
    except PatchbayError as error:
        snapshot = hub.snapshot(server)
        reason = str(error)
        if snapshot.error is not None:
            reason = f"{reason}: {snapshot.error}"
        return {"ok": False, "result": None, "error": reason, "ms": _ms(clock() - began)}
    refusal = (result.text or "The tool answered with an error") if result.is_error else None
    return {"ok": not result.is_error, "result": result.raw, "error": refusal, "ms": _ms(result.seconds)}


def check_json(snapshot: Snapshot) -> dict[str, Any]:
    """One server of the shape that `check --json` prints."""
    health = snapshot.health
    return {
        "name": snapshot.name,
        "state": snapshot.state.value,
        "health": {
            "level": health.level,
            "summary": str(health.summary),
            "detail": str(health.detail) if health.detail else None,
            "action": health.action or None,
        },
        "transport": snapshot.spec.transport,
        "protocol": snapshot.protocol or None,
        "tools": snapshot.tools_visible,
        "tools_total": snapshot.tools_total,
        "prompts": snapshot.prompts_visible,
        "resources": snapshot.resources,
        "connect_ms": _ms(snapshot.connect_ms / 1000) if snapshot.connect_ms is not None else None,
        "error": str(snapshot.error) if snapshot.error else None,
    }


def _well(snapshot: Snapshot) -> bool:
    off = not snapshot.spec.enabled or snapshot.spec.unconfirmed
    return off or snapshot.state is ServerState.READY


def _chosen(options: argparse.Namespace, specs: Sequence[ServerSpec]) -> list[ServerSpec]:
    names = options.names if options.command == "check" else [options.server] if options.server else []
    known = {spec.name for spec in specs}
    for name in names:
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise UsageError(f"MCP Client {name} not found. Servers there are: {there}")
    return [spec for spec in specs if not names or spec.name in names]


def _call_arguments(options: argparse.Namespace) -> dict[str, Any]:
    try:
        arguments = json.loads(options.arguments)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise UsageError('the arguments must be a JSON object, such as {"name": "value"}')
    return arguments


def _limited(spec: ServerSpec, timeout: float | None) -> ServerSpec:
    return replace(spec, timeout=timeout, connect_timeout=timeout) if timeout else spec


def _print(options: argparse.Namespace, what: str, answer: dict[str, Any]) -> None:
    if options.json:
        json.dump(answer, sys.stdout, ensure_ascii=False, indent=2)
        print()
        return
    from mcp_patchbay.cli_output import show

    show(what, answer)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
