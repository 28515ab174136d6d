"""Test connection: the button, its progress, and what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from mcp_patchbay.domain.errors import AuthError, PatchbayError
from mcp_patchbay.domain.state import CheckReport, ServerState
from mcp_patchbay.ui.flow_layout import FlowLayout
from mcp_patchbay.ui.models.catalog_model import offer_tokens
from mcp_patchbay.ui.texts import milliseconds, text_of, tokens
from mcp_patchbay.ui.widgets import ElidedLabel, button, hbox, holder, icon_label, inset, label, set_role, vbox

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp_patchbay.domain.state import Snapshot, Step

STEP_ICONS = {
    "done": ("check", "ok"),
    "failed": ("xmark", "error"),
    "running": ("spinner", "dim"),
    "open": ("minus", "dim"),
}


class CheckCard(QWidget):
    """Asks for a test of the settings, and shows how it went. Runs nothing itself."""

    test_clicked = Signal()
    cancel_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._when = label("", 12, role="dim")
        self._icon = icon_label("circle-info", "dim", 16)
        self._title = label(bold=True, wrap=True, selectable=True)
        self._facts = ElidedLabel(px=12, role="dim")
        self._reason = label("", 12, wrap=True, selectable=True)
        self._hint = label("", 12, role="dim", wrap=True)
        self._steps = holder(FlowLayout(20))
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setAccessibleName(self.tr("Testing the connection"))
        self.test = button(self.tr("Test connection"), "rotate-right")
        self.cancel = button(self.tr("Cancel test"), "xmark")
        top = hbox(self._icon, self._title, (self._facts, 1), self.cancel, self.test)
        body = vbox(top, self._progress, self._reason, self._hint, self._steps, margins=(16, 10, 12, 12))
        heading = hbox(label(self.tr("Test connection"), bold=True), self._when, None)
        self.setLayout(vbox(heading, inset(body), spacing=8))
        self.test.clicked.connect(self.test_clicked)
        self.cancel.clicked.connect(self.cancel_clicked)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Say that nothing was tested yet."""
        self._when.clear()
        self._show("circle-info", "dim", self.tr("Not tested yet"))

    def show_running(self) -> None:
        """Say that a test is under way."""
        self._when.clear()
        self._show("spinner", "dim", self.tr("Connecting…"), running=True)

    def show_outdated(self) -> None:
        """Say that the settings are others than those that were tested."""
        self._when.setText(self.tr("the settings have changed since"))

    def show_report(self, report: CheckReport) -> None:
        """Say what a test found."""
        now = QLocale().toString(QDateTime.currentDateTime().time(), QLocale.FormatType.ShortFormat)
        self._when.setText(self.tr("last test {0}").format(now))
        snapshot = report.snapshot
        if report.ok:
            took = milliseconds(snapshot.connect_ms) if snapshot.connect_ms is not None else ""
            title = self.tr("Connected in {0}").format(took) if took else self.tr("Connected")
            self._show("circle-check", "ok", title, self._identity(snapshot), found=self._found(report))
        else:
            self._show_failure(snapshot)

    def show_error(self, error: PatchbayError) -> None:
        """Say why there was no test."""
        self._show(
            "circle-xmark", "error", text_of(error.title), reason=text_of(error.message), hint=text_of(error.hint)
        )

    def _show_failure(self, snapshot: Snapshot) -> None:
        error = snapshot.error
        waits = snapshot.state is ServerState.NEEDS_AUTH or isinstance(error, AuthError)
        health = snapshot.health
        title = text_of(error.title) if error else text_of(health.summary)
        reason = text_of(error.message) if error else ""
        hint = text_of(error.hint) if error else text_of(health.detail)
        icon, role = ("key", "link") if waits else ("circle-xmark", "error")
        self._show(icon, role, title, reason=reason, hint=hint, found=self._step_words(snapshot.steps))

    def _identity(self, snapshot: Snapshot) -> str:
        server = f"{snapshot.server_name} {snapshot.server_version}".strip()
        protocol = self.tr("protocol {0}").format(snapshot.protocol) if snapshot.protocol else ""
        return " · ".join(part for part in (server, protocol) if part)

    def _found(self, report: CheckReport) -> list[tuple[str, str, str]]:
        counts = [
            self._counted(self.tr("1 tool"), self.tr("{0} tools"), len(report.tools)),
            self._counted(self.tr("1 prompt"), self.tr("{0} prompts"), len(report.prompts)),
            self._counted(self.tr("1 resource"), self.tr("{0} resources"), report.snapshot.resources),
        ]
        if not report.tools:
            counts.insert(0, self.tr("no tools"))
        cost = sum(offer_tokens(tool) for tool in report.tools)
        if cost:
            counts.append(self.tr("{0} tokens").format(tokens(cost)))
        steps = [step for step in self._step_words(report.snapshot.steps) if step[0] == "check"]
        return [*steps, *(("check", "ok", text) for text in counts if text)]

    def _counted(self, one: str, several: str, count: int) -> str:
        """The count in words; empty for none."""
        return one if count == 1 else several.format(count) if count else ""

    def _step_words(self, steps: Iterable[Step]) -> list[tuple[str, str, str]]:
        return [(*STEP_ICONS[step.kind], text_of(step.title)) for step in steps]

    def _show(
        self,
        icon: str,
        role: str,
        title: str,
        facts: str = "",
        *,
        reason: str = "",
        hint: str = "",
        found: Iterable[tuple[str, str, str]] = (),
        running: bool = False,
    ) -> None:
        self._icon.set_icon(icon, role)
        self._title.setText(title)
        self._facts.set_full_text(facts)
        for text, words in ((self._reason, reason), (self._hint, hint)):
            text.setText(words)
            text.setVisible(bool(words))
        set_role(self._reason, role if role == "error" else "")
        self._progress.setVisible(running)
        self.cancel.setVisible(running)
        self.test.setVisible(not running)
        self.test.setText(self.tr("Test connection") if icon == "circle-info" else self.tr("Test again"))
        self._show_steps(list(found))

    def _show_steps(self, found: list[tuple[str, str, str]]) -> None:
        flow = self._steps.layout()
        while flow is not None and (item := flow.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for icon, role, text in found:
            row: QHBoxLayout = hbox(icon_label(icon, role, 12), label(text, 12, bold=role == "error"), spacing=6)
            if flow is not None:
                flow.addWidget(holder(row))
        self._steps.setVisible(bool(found))
