"""What the status table says about one server, cell by cell. Pure functions of a snapshot and the time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication

from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import LEVEL_ORDER, Action, ServerState, Snapshot
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.masking import masked_words
from mcp_patchbay.ui.texts import NOT_KNOWN, duration, milliseconds, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

SPARK_POINTS = 24
STATE_ORDER = [  # what needs a person comes first
    ServerState.FAILED,
    ServerState.NEEDS_AUTH,
    ServerState.RETRYING,
    ServerState.CONNECTING,
    ServerState.STOPPING,
    ServerState.READY,
    ServerState.STOPPED,
    ServerState.DISABLED,
]


class Cell(NamedTuple):
    """One cell: its text, what it is sorted by, and what its delegate wants besides."""

    text: str
    sort: Any
    tone: str = ""
    subtext: str = ""
    link: str = ""
    points: tuple[float, ...] = ()


def switch_cell(snapshot: Snapshot, _now: float) -> Cell:
    return Cell("", not snapshot.spec.enabled)


def state_cell(snapshot: Snapshot, now: float) -> Cell:
    return Cell(badge_text(snapshot, now), STATE_ORDER.index(snapshot.state))


def name_cell(snapshot: Snapshot, _now: float) -> Cell:
    off = snapshot.state is ServerState.DISABLED
    subtext = target_line(snapshot.spec)
    return Cell(snapshot.name, snapshot.name.casefold(), "dim" if off else "", subtext)


def transport_cell(snapshot: Snapshot, _now: float) -> Cell:
    text = transport_text(snapshot.spec.transport)
    return Cell(text, text, "dim")


def tools_cell(snapshot: Snapshot, _now: float) -> Cell:
    if snapshot.state is not ServerState.READY:
        return Cell(NOT_KNOWN, -1)
    return Cell(f"{snapshot.tools_visible} / {snapshot.tools_total}", snapshot.tools_visible)


def latency_cell(snapshot: Snapshot, _now: float) -> Cell:
    if snapshot.state is not ServerState.READY or not snapshot.latencies:
        return Cell(NOT_KNOWN, math.inf)
    newest = snapshot.latencies[-1]
    return Cell(milliseconds(newest), newest, points=snapshot.latencies[-SPARK_POINTS:])


def calls_cell(snapshot: Snapshot, _now: float) -> Cell:
    tone = "error" if snapshot.errors else ""
    return Cell(f"{snapshot.calls} / {snapshot.errors}", (snapshot.errors, snapshot.calls), tone)


def since_cell(snapshot: Snapshot, now: float) -> Cell:
    if not snapshot.since:
        return Cell(NOT_KNOWN, math.inf)
    return Cell(duration(now - snapshot.since), -snapshot.since)


def message_cell(snapshot: Snapshot, _now: float) -> Cell:
    health = snapshot.health
    level = LEVEL_ORDER.index(health.level)
    tone = "error" if health.level == "error" else "dim"
    link = link_text(message_action(snapshot))
    if health.action == "sign_in":
        return Cell(QCoreApplication.translate("ServerTable", "to see its tools"), level, tone, link=link)
    quiet = snapshot.state in (ServerState.READY, ServerState.STOPPING) or not (
        health.detail or link or snapshot.output
    )
    if quiet and health.level in ("ok", "off", "busy"):
        return Cell("", level, tone)
    return Cell(" ".join(text_of(health.summary).split()), level, tone, link=link)


CELLS: tuple[Callable[[Snapshot, float], Cell], ...] = (
    switch_cell,
    state_cell,
    name_cell,
    transport_cell,
    tools_cell,
    latency_cell,
    calls_cell,
    since_cell,
    message_cell,
)


def message_action(snapshot: Snapshot) -> Action:
    """The health action that the table offers as a link. A retry that is due by itself needs none there."""
    action = snapshot.health.action
    if snapshot.state is ServerState.RETRYING or (action == "start" and not snapshot.spec.unconfirmed):
        return ""
    # What has to be installed cannot be installed from here; what helps is to see the settings.
    return "edit" if action == "install" else action


def link_text(action: Action) -> str:
    """The words of a health action's link; "" when there is none."""
    tr = QCoreApplication.translate
    return {
        "": "",
        "start": tr("ServerTable", "Start"),
        "retry": tr("ServerTable", "Retry"),
        "sign_in": tr("ServerTable", "Sign in…"),
        "edit": tr("ServerTable", "Edit…"),
        "install": tr("ServerTable", "Edit…"),
        "show_log": tr("ServerTable", "Show log"),
    }[action]


def badge_text(snapshot: Snapshot, now: float) -> str:
    """The words of the state's badge, with the seconds that are left until the next try."""
    tr = QCoreApplication.translate
    if snapshot.state is ServerState.RETRYING and snapshot.retry_at is not None and snapshot.retry_at > now:
        return tr("State", "Retrying in {0}").format(duration(math.ceil(snapshot.retry_at - now)))
    if snapshot.state is ServerState.STOPPED and snapshot.spec.unconfirmed:
        return tr("State", "Not started")
    return theme.state_text(snapshot.state)


def transport_text(transport: str) -> str:
    """The word for a transport."""
    tr = QCoreApplication.translate
    return {
        "stdio": "stdio",
        "streamable-http": "http",
        "sse": "sse",
        "builtin": tr("ServerTable", "built-in"),
        "invalid": NOT_KNOWN,
    }[transport]


def target_line(spec: ServerSpec) -> str:
    """What a server connects to, in one line: the command, the URL without its scheme, or the built-in's name."""
    target = spec.target
    if isinstance(target, HttpServer):
        parts = urlsplit(target.url)
        place = parts.netloc.rpartition("@")[2] + ("" if parts.path in ("", "/") else parts.path)
        return place or target.url
    if isinstance(target, BuiltinServer):
        return _builtin_line(target)
    if isinstance(target, StdioServer):
        return " ".join(" ".join(masked_words((target.command, *target.args))).split())
    return " ".join(target.summary().split())


def _builtin_line(target: BuiltinServer) -> str:
    tr = QCoreApplication.translate
    name = target.summary()
    text = (
        tr("ServerTable", "Built-in file server")
        if name == "filesystem"
        else tr("ServerTable", "Built-in: {0}").format(name)
    )
    folders = target.options.get("allowed_directories")
    if isinstance(folders, list | tuple) and folders:
        text += " · " + ", ".join(short_path(str(folder)) for folder in folders)
    return text


def short_path(path: str) -> str:
    """A path with the home folder as `~`."""
    try:
        home = str(Path.home())
    except RuntimeError:  # no home folder: containers and service users
        return path
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
