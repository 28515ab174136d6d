"""The look: readable colours in both themes, a change of theme while the program runs, and the small widgets."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from mcp_patchbay.domain.servers import ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.details.overview import ACTION_ICONS, LEVEL_ICONS, STEP_ICONS, Overview
from mcp_patchbay.ui.texts import duration, long_duration, milliseconds, tokens
from mcp_patchbay.ui.widgets import ElidedLabel, FieldError, SecondsField, Segments, label, text_field

READABLE = 4.5


@pytest.fixture
def look(qapp):
    yield qapp
    theme.apply(qapp, "light")


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tokens_of_theme", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_every_text_can_be_read_on_every_ground(tokens_of_theme):
    grounds = ("window", "base", "alt", "sel", "hover", "code")
    pairs = [(text, ground) for text in ("text", "dim", "link", "ok", "error", "warn") for ground in grounds]
    pairs += [(text, ground) for text in ("jkey", "jstr", "jnum") for ground in ("base", "code")]
    pairs += [("text", "errorbg"), ("error", "errorbg"), ("on_accent", "accent")]
    weak = [pair for pair in pairs if contrast(*(tokens_of_theme[role] for role in pair)) < READABLE]
    assert weak == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_state_has_a_badge_that_can_be_read(look, mode):
    theme.apply(look, mode)
    for state in ServerState:
        badge = theme.badge(state)
        assert badge.text
        assert contrast(badge.fg.name(), badge.bg.name()) >= READABLE
        assert not theme.icon(badge.icon).pixmap(16, 16).isNull()


def test_every_icon_that_is_named_exists(qapp):
    names = [*ACTION_ICONS.values(), *(name for name, _ in (*LEVEL_ICONS.values(), *STEP_ICONS.values()))]
    for name in names:
        theme.icon(name)
    with pytest.raises(KeyError):
        theme.icon("no-such-icon")


def test_an_icon_takes_the_colour_of_the_theme_that_it_is_painted_in(look):
    icon = theme.icon("circle", "ok")

    def middle() -> str:
        return icon.pixmap(QSize(16, 16)).toImage().pixelColor(8, 8).name()

    theme.apply(look, "light")
    assert middle() == theme.LIGHT["ok"]
    theme.apply(look, "dark")
    assert middle() == theme.DARK["ok"]


def test_a_command_stays_in_the_font_for_code_when_the_theme_changes(look, qtbot):
    theme.apply(look, "light")
    overview = Overview()
    qtbot.addWidget(overview)
    overview.show_snapshot(Snapshot(ServerSpec("a", StdioServer("npx", ("x",))), ServerState.FAILED, 1.0))
    overview.show()
    (command,) = [shown for shown in overview.findChildren(QLabel) if shown.text() == "npx x" and shown.isVisible()]
    theme.apply(look, "dark")
    assert command.font().families() == theme.MONO


def test_the_system_is_followed_only_when_it_is_asked_for(look):
    hints = look.styleHints()
    theme.apply(look, "system")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.is_dark()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert not theme.is_dark()
    theme.apply(look, "light")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not theme.is_dark()


def test_a_change_of_theme_leaves_one_folder_of_glyphs(look):
    theme.apply(look, "dark")
    first = theme.theme._glyphs
    theme.apply(look, "light")
    assert isinstance(first, Path)
    assert not first.exists()
    assert theme.theme._glyphs.exists()


def test_a_label_shows_markup_as_it_is(qapp):
    assert label("<b>x</b>").textFormat() == Qt.TextFormat.PlainText


def test_a_cut_text_is_whole_in_its_tooltip_and_for_a_screen_reader(qapp):
    cut = ElidedLabel("a long text " * 20)
    cut.resize(80, 20)
    assert cut.text().endswith("…")
    assert cut.accessibleName() == ("a long text " * 20).strip()
    assert "a long text a long text" in cut.toolTip()


def test_an_error_stands_beside_its_field_and_is_read_out_with_it(qapp):
    field = text_field("x")
    hint = FieldError(field)
    hint.show_error("This folder does not exist.")
    assert (hint.is_error, hint.text(), field.property("bad")) == (True, "This folder does not exist.", True)
    assert field.accessibleDescription() == "This folder does not exist."
    hint.clear()
    assert (hint.is_error, hint.isHidden(), field.property("bad")) == (False, True, False)


async def test_the_arrow_keys_choose_another_segment(qapp, qwait):
    segments = Segments([("Command", "terminal"), ("URL", "globe"), ("Built-in", "")], "Transport")
    chosen: list[int] = []
    segments.changed.connect(chosen.append)
    segments.show()
    first = segments._group.button(0)
    first.setFocus()
    segments.activateWindow()
    await qwait.until(first.hasFocus)
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert segments.current() == 1
    assert chosen == [1]
    segments.close()
    segments.deleteLater()


def test_seconds_show_a_fraction_only_when_there_is_one(qapp):
    assert [SecondsField(value).text() for value in (30, 0.25)] == ["30 s", "0.25 s"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (duration(0), "0 s"),
        (duration(59.9), "59 s"),
        (duration(60), "1 min"),
        (duration(2 * 3600), "2 h"),
        (duration(3 * 86400), "3 days"),
        (duration(-5), "0 s"),
        (long_duration(3720), "1 h 2 min"),
        (long_duration(7200), "2 h"),
        (long_duration(3 * 86400 + 7200), "3 days 2 h"),
        (milliseconds(3), "3 ms"),
        (milliseconds(2.54), "2.5 ms"),
        (milliseconds(184.4), "184 ms"),
        (milliseconds(1840), "1.8 s"),
        (tokens(214), "~214"),
        (tokens(9400), "~9.4k"),
    ],
)
def test_times_and_counts_read_as_people_say_them(said, expected):
    assert said == expected
