"""What the Overview says about a server: the facts card, the buttons that help, and the report for the clipboard."""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from mcp_patchbay import __version__
from mcp_patchbay.domain.command_line import shown_command_line
from mcp_patchbay.domain.placeholders import secret_references
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, InvalidServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui.masking import MASK, masked_url, masked_words
from mcp_patchbay.ui.models.server_facts import badge_text, short_path, target_line
from mcp_patchbay.ui.texts import long_duration, milliseconds, text_of

INSTRUCTIONS_SHOWN = 4_000  # characters; some servers send a book


class Fact(NamedTuple):
    """One line of the facts card. `mono` for what a person may type."""

    title: str
    value: str
    mono: bool = False


def facts_of(snapshot: Snapshot, now: float) -> list[Fact]:
    """What is known of a server now; what is not known is left out."""
    tr = QCoreApplication.translate
    spec, ready = snapshot.spec, snapshot.state is ServerState.READY
    facts = [_target_fact(snapshot)]
    if isinstance(spec.target, StdioServer):
        facts.append(Fact(tr("Facts", "Folder"), short_path(spec.target.cwd or ""), True))
        facts.append(Fact(tr("Facts", "PID"), str(snapshot.pid or "")))
    named = " ".join(filter(None, (snapshot.server_name, snapshot.server_version)))
    facts += [
        Fact(tr("Facts", "Server"), named),
        Fact(tr("Facts", "Protocol"), snapshot.protocol),
        Fact(tr("Facts", "Uptime"), _uptime(snapshot, now)),
        Fact(tr("Facts", "Capabilities"), ", ".join(snapshot.capabilities)),
        Fact(tr("Facts", "Tools"), _visible(snapshot.tools_visible, snapshot.tools_total)),
        Fact(tr("Facts", "Prompts"), _visible(snapshot.prompts_visible, snapshot.prompts_total)),
        Fact(tr("Facts", "Resources"), str(snapshot.resources or "")),
    ]
    if ready and snapshot.connect_ms is not None:
        facts.append(Fact(tr("Facts", "Connected in"), milliseconds(snapshot.connect_ms)))
    facts += [
        Fact(tr("Facts", "Description"), spec.description),
        Fact(tr("Facts", "Instructions"), _shortened(snapshot.instructions.strip())),
    ]
    if snapshot.transient:
        facts.append(Fact(tr("Facts", "From"), tr("Facts", "MCP_SERVERS, for this run only")))
    return [fact for fact in facts if fact.value]


def launch_text(spec: ServerSpec) -> str:
    """Exactly what a Start would run or reach, for someone who has to agree to it. Secrets in variables are masked."""
    tr = QCoreApplication.translate
    target = spec.target
    if isinstance(target, StdioServer):
        lines = [shown_command_line([target.command, *target.args])]
        if target.cwd:
            lines.append(tr("Overview", "in {0}").format(target.cwd))
        if target.env:
            shown = {name: MASK if secret_references(value) else value for name, value in target.env.items()}
            variables = masked_words([f"{name}={value}" for name, value in shown.items()])
            lines.append(tr("Overview", "with {0}").format(shown_command_line(variables)))
        return "\n".join(lines)
    if isinstance(target, HttpServer):
        lines = [target.url]
        if target.headers:
            lines.append(tr("Overview", "with the headers {0}").format(", ".join(target.headers)))
        return "\n".join(lines)
    return target_line(spec)


def actions_of(snapshot: Snapshot) -> list[str]:
    """The actions that the Overview offers for a state, the one that helps most first."""
    if isinstance(snapshot.spec.target, InvalidServer):
        return ["edit"]
    if snapshot.state is ServerState.FAILED and snapshot.health.action in ("install", "edit"):
        return ["edit", "retry", "show_log"]
    return {
        ServerState.DISABLED: ["enable", "edit"],
        ServerState.STOPPED: ["start", "edit"],
        ServerState.CONNECTING: ["stop", "show_log"],
        ServerState.READY: ["playground", "restart", "show_log"],
        ServerState.RETRYING: ["retry", "show_log", "edit"],
        ServerState.NEEDS_AUTH: ["sign_in", "edit", "retry"],
        ServerState.FAILED: ["retry", "show_log", "edit"],
        ServerState.STOPPING: ["show_log"],
    }[snapshot.state]


def report(snapshot: Snapshot, now: float) -> str:
    """What someone who helps wants to know, as plain text. Commands come with their secrets masked."""
    health = snapshot.health
    lines = [
        f"{snapshot.name}: {badge_text(snapshot, now)}",
        *filter(None, (text_of(health.summary), text_of(health.detail))),
        "",
        *(f"[{step.kind}] {text_of(step.title)} {step.note}".rstrip() for step in snapshot.steps),
        "",
        *(f"{fact.title}: {fact.value}" for fact in facts_of(snapshot, now)),
        "",
        f"Patchbay {__version__}, Python {sys.version.split()[0]}, {platform.platform()}",
    ]
    return "\n".join(lines)


def _target_fact(snapshot: Snapshot) -> Fact:
    tr = QCoreApplication.translate
    target = snapshot.spec.target
    if isinstance(target, HttpServer):
        return Fact(tr("Facts", "URL"), masked_url(target.url), True)
    if isinstance(target, BuiltinServer):
        return Fact(tr("Facts", "Built-in"), target_line(snapshot.spec))
    if isinstance(target, InvalidServer):
        return Fact("", "")
    command = masked_words(snapshot.command or (target.command, *target.args))
    return Fact(tr("Facts", "Command"), shown_command_line([short_path(command[0]), *command[1:]]), True)


def _uptime(snapshot: Snapshot, now: float) -> str:
    tr = QCoreApplication.translate
    if not snapshot.since:
        return ""
    span = long_duration(now - snapshot.since)
    if snapshot.state is ServerState.READY:
        return span
    if snapshot.state not in (ServerState.FAILED, ServerState.NEEDS_AUTH, ServerState.STOPPED):
        return ""
    return tr("Facts", "down for {0}").format(span)


def _visible(visible: int, total: int) -> str:
    if not total:
        return ""
    return QCoreApplication.translate("Facts", "{0} of {1} visible").format(visible, total)


def _shortened(text: str) -> str:
    return text if len(text) <= INSTRUCTIONS_SHOWN else text[:INSTRUCTIONS_SHOWN] + " …"
