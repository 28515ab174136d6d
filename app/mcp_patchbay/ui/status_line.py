"""The line at the foot of the main window: how many are ready, what they offer, what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QStatusBar

from mcp_patchbay.domain.state import ServerState, Snapshot, worst_level
from mcp_patchbay.ui.details.overview import LEVEL_ICONS
from mcp_patchbay.ui.texts import tokens
from mcp_patchbay.ui.widgets import hbox, holder, icon_label, label

if TYPE_CHECKING:
    from collections.abc import Sequence


class StatusLine(QStatusBar):
    """Counts over all servers."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._icon = icon_label("circle-check", "ok", 14)
        self._counts = label("", 12)
        self._problems = label("", 12, role="dim")
        self.addWidget(holder(hbox(self._icon, self._counts, None, margins=(16, 0, 0, 0), spacing=6)), 1)
        self.addPermanentWidget(holder(hbox(self._problems, margins=(0, 0, 16, 0))))

    def show_servers(self, snapshots: Sequence[Snapshot], token_count: int, closes_to_tray: bool) -> None:
        """Say how these servers are; `token_count` is what their visible tools cost a client."""
        self._icon.setVisible(bool(snapshots))
        level = worst_level(list(snapshots))
        self._icon.set_icon(*(("triangle-exclamation", "error") if level == "error" else LEVEL_ICONS[level]))
        self._counts.setText(counts_text(snapshots, token_count))
        hint = self.tr("Runs in the tray when you close this window") if closes_to_tray else ""
        self._problems.setText(problems_text(snapshots) or hint)


def counts_text(snapshots: Sequence[Snapshot], token_count: int) -> str:
    """Such as "4 of 9 ready · 52 tools · ~9.4k tokens"."""
    tr = QCoreApplication.translate
    if not snapshots:
        return tr("StatusLine", "No servers")
    ready = [s for s in snapshots if s.state is ServerState.READY]
    parts = [tr("StatusLine", "{0} of {1} ready").format(len(ready), len(snapshots))]
    tools = sum(s.tools_visible for s in ready)
    if tools:
        parts.append(tr("StatusLine", "{0} tools").format(tools))
    if tools and token_count:
        parts.append(tr("StatusLine", "{0} tokens").format(tokens(token_count)))
    return "  ·  ".join(parts)


def problems_text(snapshots: Sequence[Snapshot]) -> str:
    """Such as "1 failed, 1 waiting for sign-in"; "" when all is well."""
    tr = QCoreApplication.translate
    waiting = sum(s.spec.unconfirmed and s.state is ServerState.STOPPED for s in snapshots)
    counted = (
        (sum(s.state is ServerState.FAILED for s in snapshots), tr("StatusLine", "{0} failed")),
        (sum(s.state is ServerState.RETRYING for s in snapshots), tr("StatusLine", "{0} retrying")),
        (sum(s.state is ServerState.NEEDS_AUTH for s in snapshots), tr("StatusLine", "{0} waiting for sign-in")),
        (waiting, tr("StatusLine", "{0} waiting for your Start")),
    )
    return ", ".join(text.format(count) for count, text in counted if count)
