"""The Overview: how a server is, how far it came, what would help, and the facts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QSizePolicy

from mcp_patchbay.domain.state import Level, ServerState, Snapshot, Step, StepKind
from mcp_patchbay.ui.details.facts import Fact, actions_of, facts_of, launch_text
from mcp_patchbay.ui.models.server_facts import short_path
from mcp_patchbay.ui.texts import text_of
from mcp_patchbay.ui.widgets import (
    ElidedLabel,
    button,
    hbox,
    holder,
    icon_label,
    inset,
    label,
    vbox,
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QHBoxLayout, QLayout

LEVEL_ICONS: dict[Level, tuple[str, str]] = {
    "ok": ("circle-check", "ok"),
    "busy": ("spinner", "warn"),
    "warning": ("triangle-exclamation", "warn"),
    "error": ("circle-xmark", "error"),
    "off": ("circle-minus", "dim"),
}
STEP_ICONS: dict[StepKind, tuple[str, str]] = {
    "done": ("check", "ok"),
    "failed": ("xmark", "error"),
    "running": ("spinner", "warn"),
    "open": ("minus", "dim"),
}
ACTION_ICONS = {
    "enable": "power-off",
    "start": "play",
    "stop": "stop",
    "retry": "rotate-right",
    "restart": "rotate-right",
    "sign_in": "key",
    "edit": "pen",
    "playground": "flask",
    "show_log": "file-lines",
}
NEVER_PRIMARY = {"stop", "show_log"}


class Overview(QScrollArea):
    """The first page of the details. What does not change between two snapshots keeps its widgets and its focus."""

    action_requested = Signal(str)
    """One of the keys of `ACTION_ICONS`."""

    def __init__(self) -> None:
        super().__init__()
        self._snapshot: Snapshot | None = None
        self._steps: tuple[Step, ...] | None = None
        self._actions: list[str] | None = None
        self._facts: list[Fact] = []
        self._fact_labels: list[tuple[QLabel, list[QLabel]]] = []

        self._health_icon = icon_label("circle-minus", "dim", 16, 18)
        self._health = label("", 15, bold=True, wrap=True, selectable=True)
        self._detail = label("", 13, role="dim", wrap=True, selectable=True)
        self._launch = label("", 12, mono=True, wrap=True, selectable=True)
        self._launch_card = inset(vbox(self._launch, margins=(12, 10, 12, 10)))
        self._step_rows = vbox(spacing=6)
        self._buttons: QHBoxLayout = hbox(None, spacing=8)
        for wide in (self._health, self._detail, self._launch):
            wide.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

        left = vbox(
            hbox(holder(vbox(self._health_icon, None, margins=(0, 3, 0, 0))), (self._health, 1)),
            self._launch_card,
            self._detail,
            2,
            self._step_rows,
            6,
            self._buttons,
            None,
            spacing=6,
        )
        self._grid = QGridLayout()
        self._grid.setContentsMargins(16, 12, 16, 12)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(7)
        self._grid.setColumnStretch(1, 1)
        self._fact_card = inset(self._grid)
        page = holder(hbox((holder(left), 1), (self._fact_card, 1), margins=(16, 12, 16, 12), spacing=24))
        page.setProperty("plain", True)
        self.viewport().setProperty("plain", True)
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show this snapshot."""
        self._snapshot = snapshot
        health = snapshot.health
        signs_in = snapshot.state is ServerState.NEEDS_AUTH  # calm and blue: nothing is broken
        self._health_icon.set_icon(*(("key", "link") if signs_in else LEVEL_ICONS[health.level]))
        self._health.setText(text_of(health.summary))
        asks = snapshot.spec.unconfirmed and snapshot.state is ServerState.STOPPED
        self._launch.setText(launch_text(snapshot.spec) if asks else "")
        self._launch.setAccessibleName(self.tr("This will be started: {0}").format(self._launch.text()) if asks else "")
        self._launch_card.setVisible(asks)
        self._detail.setText(
            self.tr("It came from outside, so it waits until you have seen what it runs.")
            if asks
            else text_of(health.detail)
        )
        self._detail.setVisible(bool(self._detail.text()))
        if snapshot.steps != self._steps:
            self._steps = snapshot.steps
            self._rebuild_steps(snapshot.steps)
        actions = actions_of(snapshot)
        if actions != self._actions:
            self._actions = actions
            self._rebuild_buttons(actions)
        self.tick()

    def tick(self) -> None:
        """Let the times move on."""
        if self._snapshot is not None:
            facts = facts_of(self._snapshot, time.time())
            if facts != self._facts:
                self._facts = facts
                self._fill_facts(facts)

    def action_text(self, action: str) -> str:
        """The words of an action's button."""
        return {
            "enable": self.tr("Switch on"),
            "start": self.tr("Start"),
            "stop": self.tr("Stop"),
            "retry": self.tr("Try again"),
            "restart": self.tr("Restart"),
            "sign_in": self.tr("Sign in…"),
            "edit": self.tr("Edit…"),
            "playground": self.tr("Try a tool…"),
            "show_log": self.tr("Show log"),
        }[action]

    def _rebuild_steps(self, steps: tuple[Step, ...]) -> None:
        empty(self._step_rows)
        for step in steps:
            icon, role = STEP_ICONS[step.kind]
            failed = step.kind == "failed"
            title = label(text_of(step.title), bold=failed, role=role if step.kind in ("failed", "open") else "")
            title.setAccessibleName(f"{title.text()}: {self._kind_text(step.kind)}")
            note = ElidedLabel(short_path(step.note), 12, role="dim", elide=Qt.TextElideMode.ElideMiddle)
            self._step_rows.addWidget(holder(hbox(icon_label(icon, role, 12, 18), title, (note, 1))))

    def _rebuild_buttons(self, actions: list[str]) -> None:
        focused = self.focusWidget()
        had_focus = focused is not None and focused.hasFocus() and focused.property("action") is not None
        empty(self._buttons)
        for place, action in enumerate(actions):
            primary = place == 0 and action not in NEVER_PRIMARY
            made = button(
                self.action_text(action),
                ACTION_ICONS[action] if primary else "",
                primary=primary,
                link=not primary,
            )
            made.setProperty("action", action)
            made.clicked.connect(lambda _checked=False, action=action: self.action_requested.emit(action))
            self._buttons.addWidget(made)
            if had_focus and place == 0:
                made.setFocus()
        self._buttons.addStretch(1)

    def _fill_facts(self, facts: list[Fact]) -> None:
        while len(self._fact_labels) < len(facts):
            row = len(self._fact_labels)
            self._grid.setRowStretch(row + 1, 0)
            title = label("", 12, role="dim")
            self._grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            # Two, of which one is shown: a font that is set later is lost at the next change of the style sheet.
            values = [label("", 12, mono=mono, wrap=True, selectable=True) for mono in (False, True)]
            for value in values:
                value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                self._grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignTop)
            self._fact_labels.append((title, values))
        self._grid.setRowStretch(len(self._fact_labels), 1)
        for place, (title, values) in enumerate(self._fact_labels):
            fact = facts[place] if place < len(facts) else None
            title.setVisible(fact is not None)
            for value, mono in zip(values, (False, True), strict=True):
                value.setVisible(fact is not None and fact.mono == mono)
            if fact is not None:
                show_fact(title, values[fact.mono], fact)

    def _kind_text(self, kind: StepKind) -> str:
        return {
            "done": self.tr("done"),
            "failed": self.tr("failed"),
            "running": self.tr("under way"),
            "open": self.tr("not reached"),
        }[kind]


def show_fact(title: QLabel, value: QLabel, fact: Fact) -> None:
    """Put a fact into its two labels."""
    if title.text() != fact.title:
        title.setText(fact.title)
    if value.text() != fact.value:  # a text that stays keeps its selection
        value.setText(fact.value)
    value.setAccessibleName(f"{fact.title}: {fact.value}")


def empty(layout: QLayout) -> None:
    """Take everything out of a layout and let it go."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
