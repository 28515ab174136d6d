"""The tray, on the kind of host that DESK_TRAY names, and its menu without any."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QMenu, QStyle, QSystemTrayIcon

from checks.qt import QWait
from desk.notifications import recorded
from desk.session import session_command
from desk.status_notifier import TrayHand, tray_hand
from mcp_patchbay.domain.errors import ConnectionLostError, field_error
from mcp_patchbay.domain.messages import plain
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui import theme, tray, tray_icons
from mcp_patchbay.ui.tray import Tray
from mcp_patchbay.ui.tray_menu import ServerLine

S = ServerState
T = TypeVar("T")
HOST = os.environ.get("DESK_TRAY", "")
DESK = Path(__file__).parent.parent / "desk"

on_sni = pytest.mark.skipif(HOST != "sni", reason="needs a StatusNotifier host (DESK_TRAY=sni)")
on_xembed = pytest.mark.skipif(HOST != "xembed", reason="needs an XEmbed host (DESK_TRAY=xembed)")
on_none = pytest.mark.skipif(HOST != "none", reason="needs a desktop without a tray (DESK_TRAY=none)")


def snapshot(name: str, state: ServerState = S.READY, reason: str = "") -> Snapshot:
    error = ConnectionLostError(plain("Lost"), plain(reason)) if reason else None
    return Snapshot(ServerSpec(name, StdioServer("x"), enabled=state is not S.DISABLED), state, error=error)


@pytest.fixture(scope="module", autouse=True)
def opened_for_good(qapp: QApplication) -> None:
    """Let Qt open what it keeps from the first tray on: D-Bus, the icon theme."""
    theme.apply(qapp, "light")
    qapp.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxCritical).pixmap(32, 32)
    first = Tray()
    first.start()
    qapp.processEvents()
    first.shut()
    first.deleteLater()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for a tray more often than a user needs."""
    monkeypatch.setattr(tray, "POLL_INTERVAL", 100)


@pytest.fixture
async def a_tray(qapp: QApplication) -> AsyncIterator[Tray]:
    theme.apply(qapp, "light")
    made = Tray()
    yield made
    made.shut()
    made.deleteLater()


def heard(signal: Any) -> list[Any]:
    """The first argument of each emission of a signal (None when it has none)."""
    values: list[Any] = []
    signal.connect(lambda *arguments: values.append(arguments[0] if arguments else None))
    return values


def lines(made: Tray) -> list[str]:
    return [a.text() for a in made.menu.actions() if isinstance(a.menu(), ServerLine)]


def line(made: Tray, name: str) -> ServerLine:
    return next(a.menu() for a in made.menu.actions() if a.text().startswith(name) and isinstance(a.menu(), ServerLine))


def click(menu: QMenu, text: str) -> None:
    action = next(action for action in menu.actions() if action.text() == text)
    assert action.isEnabled()
    action.trigger()


# ---- the menu and the words, on any desktop


async def test_the_menu_has_a_line_a_server_the_worst_first(a_tray: Tray) -> None:
    a_tray.set_snapshots(
        [
            snapshot("linear", S.DISABLED),
            snapshot("files"),
            snapshot("memory", S.RETRYING, "gone"),
            snapshot("sentry", S.NEEDS_AUTH),
            snapshot("playwright", S.CONNECTING),
            snapshot("postgres", S.FAILED, "password refused"),
            snapshot("R&D"),
        ]
    )
    assert lines(a_tray) == [
        "postgres  –  failed: password refused",
        "sentry  –  sign in",
        "memory  –  retrying",
        "playwright  –  connecting",
        "files  –  ready",
        "R&&D  –  ready",
        "linear  –  off",
    ]
    assert a_tray.menu.headline.text() == "2 of 7 ready, 1 failed, 1 to sign in"
    texts = [action.text() for action in a_tray.menu.actions() if not action.isSeparator()]
    assert texts[-3:] == ["Open Patchbay", "Pause all", "Quit"]


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([], "No servers"),
        ([S.READY], "1 server, ready"),
        ([S.FAILED], "1 server, not ready"),
        ([S.READY] * 12 + [S.FAILED, S.DISABLED], "12 of 14 servers ready"),
    ],
)
async def test_the_tooltip_counts_what_is_ready(a_tray: Tray, states: list[ServerState], words: str) -> None:
    a_tray.set_snapshots([snapshot(f"s{number}", state) for number, state in enumerate(states)])
    assert a_tray.tooltip() == words


async def test_lines_are_changed_in_place(a_tray: Tray) -> None:
    a_tray.set_snapshots([snapshot("a"), snapshot("b")])
    before = [line(a_tray, "a"), line(a_tray, "b")]
    a_tray.set_snapshots([snapshot("a"), snapshot("b", S.FAILED, "gone"), snapshot("c")])
    assert [line(a_tray, "a"), line(a_tray, "b")] == before
    assert lines(a_tray)[0] == "b  –  failed: gone"
    a_tray.set_snapshots([snapshot("c"), snapshot("a")])
    assert lines(a_tray) == ["c  –  ready", "a  –  ready"]


@pytest.mark.qt_log_ignore("This plugin does not support")
async def test_an_open_menu_is_not_rebuilt(a_tray: Tray, qwait: QWait) -> None:
    a_tray.set_snapshots([snapshot("a"), snapshot("b")])
    a_tray.menu.popup(QPoint(10, 10))
    await qwait.until(a_tray.menu.isVisible)
    actions = a_tray.menu.actions()
    a_tray.set_snapshots([snapshot("b", S.FAILED, "gone"), snapshot("c")])
    assert a_tray.menu.actions() == actions
    assert lines(a_tray) == ["a  –  ready", "b  –  failed: gone"]
    assert not line(a_tray, "a").menuAction().isEnabled()
    a_tray.menu.close()
    await qwait.until(lambda: lines(a_tray) == ["b  –  failed: gone", "c  –  ready"])


async def test_only_what_makes_sense_can_be_clicked(a_tray: Tray) -> None:
    invalid = Snapshot(ServerSpec("bad", InvalidServer(field_error("url", "no"), {}), enabled=False), S.DISABLED)
    states = {s.value: s for s in ServerState}
    a_tray.set_snapshots([*(snapshot(name, state) for name, state in states.items()), invalid])

    def enabled(name: str) -> str:
        actions = line(a_tray, name)
        return "".join(
            letter
            for letter, action in {"s": actions.start, "p": actions.stop, "r": actions.restart}.items()
            if action.isEnabled()
        )

    assert {name: enabled(name) for name in [*states, "bad"]} == {
        "disabled": "s",
        "stopped": "s",
        "connecting": "pr",
        "ready": "pr",
        "retrying": "spr",
        "needs_auth": "spr",
        "failed": "spr",
        "stopping": "",
        "bad": "",
    }


async def test_the_menu_speaks_through_the_trays_signals(a_tray: Tray) -> None:
    a_tray.set_snapshots([snapshot("a", S.FAILED, "gone")])
    names = ("start_requested", "stop_requested", "restart_requested", "log_requested")
    said = {name: heard(getattr(a_tray, name)) for name in (*names, "open_requested", "quit_requested")}
    for text in ("Start", "Stop", "Restart", "Show log"):
        click(line(a_tray, "a"), text)
    click(a_tray.menu, "Open Patchbay")
    click(a_tray.menu, "Quit")
    assert said == {**{name: ["a"] for name in names}, "open_requested": [None], "quit_requested": [None]}


async def test_pause_becomes_resume(a_tray: Tray) -> None:
    asked = heard(a_tray.pause_requested)
    a_tray.set_snapshots([snapshot("a")])
    click(a_tray.menu, "Pause all")
    a_tray.set_paused(True)
    a_tray.set_snapshots([snapshot("a", S.STOPPED)])
    click(a_tray.menu, "Resume")
    a_tray.set_paused(False)
    assert asked == [True, False]
    assert not a_tray.menu.pause.isEnabled()


async def test_a_reason_of_many_lines_makes_one_short_line(a_tray: Tray) -> None:
    a_tray.set_snapshots([snapshot("a", S.FAILED, "first line\nsecond line " + "x" * 200)])
    assert lines(a_tray)[0].startswith("a  –  failed: first line second line xxx")
    assert lines(a_tray)[0].endswith("…")
    assert len(lines(a_tray)[0]) <= 60


@pytest.mark.parametrize("level", ["ok", "busy", "warning", "error", "off"])
async def test_the_icon_can_be_told_from_its_panel(level: tray_icons.Level, qapp: QApplication) -> None:
    panels: list[tray_icons.Panel] = ["dark", "light"]
    for panel in panels:
        for size in (16, 22, 24, 32):
            image = tray_icons.tray_icon(level, panel).pixmap(size, size).toImage()
            solid = [c for c in pixels(image) if c.alpha() > 200]
            brightness = sum(color.lightness() for color in solid) / len(solid)
            assert len(solid) > size / 2, "there is something to be seen"
            assert brightness > 120 if panel == "dark" else brightness < 140


@pytest.mark.parametrize("level", ["ok", "busy", "warning", "error", "off"])
async def test_the_icon_for_an_unknown_panel_stands_out_on_any(level: tray_icons.Level, qapp: QApplication) -> None:
    for size in (16, 22, 24, 32):
        image = tray_icons.tray_icon(level, "unknown").pixmap(size, size).toImage()
        solid = [color.lightness() for color in pixels(image) if color.alpha() > 200]
        assert sum(lightness < 110 for lightness in solid) > size / 2, "dark enough for a light panel"
        assert sum(lightness > 200 for lightness in solid) > size / 2, "light enough for a dark panel"


def pixels(image: QImage) -> Iterator[QColor]:
    return (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))


async def test_the_levels_have_icons_of_their_own(qapp: QApplication) -> None:
    images = [
        tray_icons.tray_icon(level, "light").pixmap(22, 22).toImage() for level in ("ok", "busy", "warning", "error")
    ]
    assert all(one != other for place, one in enumerate(images) for other in images[place + 1 :])


async def test_the_panels_colour_is_seen_in_the_corners(qapp: QApplication) -> None:
    for color, dark in ((QColor("#f1f2f4"), False), (QColor("#202124"), True)):
        image = QImage(22, 22, QImage.Format.Format_RGB32)
        image.fill(color)
        assert (tray_icons._corner_brightness(image) < tray_icons.MIDDLE_GREY) is dark


async def test_gnomes_bar_is_taken_for_dark(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "ubuntu:GNOME")
    assert tray_icons.panel_under(QRect()) == "dark"


# ---- on real hosts


async def by_hand(deed: Callable[[TrayHand], T]) -> T:
    """What another program sees and does over D-Bus; in a thread, since this loop has to answer it."""

    def work() -> T:
        with tray_hand() as hand:
            return deed(hand)

    return await asyncio.wait_for(asyncio.to_thread(work), 20)


def our_icon(hand: TrayHand) -> dict[str, Any]:
    found = [hand.properties(item) for item in hand.items()]
    return found[0] if found else {}


def our_menu(hand: TrayHand) -> list[str]:
    return [str(entry.get("label", "")).replace("_", "") for entry in hand.menu(hand.items()[0])]


async def until_seen(deed: Callable[[TrayHand], Any]) -> Any:
    for _ in range(100):
        if seen := await by_hand(deed):
            return seen
        await asyncio.sleep(0.05)
    raise AssertionError("it was never seen")


@on_sni
async def test_the_icon_stands_in_a_status_notifier_host(a_tray: Tray) -> None:
    a_tray.set_snapshots([snapshot("files"), snapshot("postgres", S.FAILED, "gone")])
    a_tray.start()
    assert a_tray.available
    icon = await until_seen(our_icon)
    assert icon["ToolTip"][2] == "1 of 2 servers ready"
    assert {(22, 22), (16, 16), (32, 32)} <= {(width, height) for width, height, _ in icon["IconPixmap"]}
    a_tray.shut()
    await until_seen(lambda hand: not hand.items())
    a_tray.set_snapshots([snapshot("late")])
    assert a_tray.tooltip() == "1 of 2 servers ready"


@on_sni
async def test_its_menu_lists_the_servers_and_stop_and_start_work_by_click(a_tray: Tray, qwait: QWait) -> None:
    stops, starts = heard(a_tray.stop_requested), heard(a_tray.start_requested)
    a_tray.set_snapshots([snapshot("files"), snapshot("memory", S.STOPPED)])
    a_tray.start()
    await until_seen(our_icon)
    menu = await by_hand(our_menu)
    assert [entry for entry in menu if "–" in entry] == ["files  –  ready", "memory  –  stopped"]
    await by_hand(lambda hand: hand.click(hand.items()[0], "files  –  ready", "Stop"))
    await by_hand(lambda hand: hand.click(hand.items()[0], "memory  –  stopped", "Start"))
    await qwait.until(lambda: (stops, starts) == (["files"], ["memory"]))
    a_tray.set_snapshots([snapshot("files", S.STOPPED), snapshot("memory"), snapshot("time")])
    await until_seen(lambda hand: "time  –  ready" in our_menu(hand) and "files  –  stopped" in our_menu(hand))
    a_tray.set_snapshots([snapshot("memory")])
    await until_seen(lambda hand: [entry for entry in our_menu(hand) if "–" in entry] == ["memory  –  ready"])


@on_sni
async def test_a_click_on_the_icon_asks_for_the_window(a_tray: Tray, qwait: QWait) -> None:
    clicks = heard(a_tray.toggle_requested)
    a_tray.start()
    await until_seen(our_icon)
    await by_hand(lambda hand: hand.activate(hand.items()[0]))
    await qwait.until(lambda: len(clicks) == 1)


@on_sni
async def test_one_failure_makes_one_notification(a_tray: Tray, qwait: QWait) -> None:
    before = len(recorded())

    def news() -> list[tuple[str, str]]:
        return [(entry["summary"], entry["body"]) for entry in recorded()[before:]]

    a_tray.start()
    a_tray.set_snapshots([snapshot("postgres")])
    for state in (S.RETRYING, S.CONNECTING, S.FAILED, S.FAILED, S.CONNECTING, S.FAILED):
        a_tray.set_snapshots([snapshot("postgres", state, "password refused")])
    await qwait.until(news)
    a_tray.set_snapshots([snapshot("postgres", S.FAILED, "password refused")])
    a_tray.set_snapshots([snapshot("postgres")])
    await qwait.until(lambda: len(news()) == 2)
    assert news() == [("postgres failed", "password refused"), ("postgres is ready again", "1 server, ready")]
    a_tray.set_snapshots([snapshot(name, S.FAILED, "gone") for name in ("postgres", "files", "time")])
    await qwait.until(lambda: len(news()) == 3)
    assert news()[2] == ("3 servers need attention", "postgres, files, time")


@on_sni
async def test_nothing_is_told_when_it_is_switched_off_or_the_app_ends(a_tray: Tray, qwait: QWait) -> None:
    before = len(recorded())
    a_tray.start()
    a_tray.notifications_enabled = False
    a_tray.set_snapshots([snapshot("silent", S.FAILED, "gone")])
    a_tray.notifications_enabled = True
    a_tray.set_snapshots([snapshot("silent", S.FAILED, "gone"), snapshot("told", S.NEEDS_AUTH)])
    await qwait.until(lambda: len(recorded()) > before)
    ending = Tray()
    ending.start()
    ending.set_snapshots([snapshot("ending", S.FAILED, "gone")])
    ending.shut()
    await asyncio.sleep(tray.GATHER_INTERVAL / 1000 * 2)
    assert [entry["summary"] for entry in recorded()[before:]] == ["told needs a sign-in"]
    ending.deleteLater()


@on_xembed
async def test_the_icon_stands_in_an_xembed_host_and_can_be_clicked(a_tray: Tray, qwait: QWait) -> None:
    a_tray.set_snapshots([snapshot("files"), snapshot("memory", S.STOPPED)])
    clicks = heard(a_tray.toggle_requested)
    a_tray.start()
    place = await qwait.until(lambda: placed(a_tray))
    await press(place, 1)
    await qwait.until(lambda: clicks)
    await press(place, 3)
    await qwait.until(a_tray.menu.isVisible)
    assert lines(a_tray) == ["files  –  ready", "memory  –  stopped"]
    a_tray.menu.close()


@on_none
@pytest.mark.parametrize(("tint", "shade"), [("0x202124", "dark"), ("0xf1f2f4", "light")])
async def test_marks_stand_out_on_the_panel_whatever_the_apps_theme(
    a_tray: Tray, qapp: QApplication, qwait: QWait, tint: str, shade: tray_icons.Panel
) -> None:
    theme.apply(qapp, "light" if shade == "dark" else "dark")
    a_tray.set_snapshots([snapshot("files")])
    panel = ("trayer", "--edge", "top", "--height", "28", "--transparent", "true", "--alpha", "0", "--tint", tint)
    with host_process(*panel):
        a_tray.start()
        place = await qwait.until(lambda: placed(a_tray))

        def contrast() -> int:
            grabbed = qapp.primaryScreen().grabWindow(0, place.x(), place.y(), place.width(), place.height())
            seen = [color.lightness() for color in pixels(grabbed.toImage())]
            return max(seen) - min(seen)

        await qwait.until(lambda: a_tray._panel == shade, what=f"the panel is seen to be {shade}")
        await qwait.until(lambda: contrast() > 150)
    await qwait.until(lambda: not a_tray.available)


def placed(made: Tray) -> QRect | None:
    icon = made.findChild(QSystemTrayIcon)
    place = icon.geometry() if icon is not None else QRect()
    return place if place.isValid() and place.x() + place.y() > 0 else None


async def press(place: QRect, button: int) -> None:
    center = place.center()
    command = ("xdotool", "mousemove", str(center.x()), str(center.y()), "click", str(button))
    process = await asyncio.create_subprocess_exec(*command)
    assert await asyncio.wait_for(process.wait(), 10) == 0


@contextmanager
def host_process(*command: str) -> Iterator[None]:
    with subprocess.Popen(command) as host:
        try:
            yield
        finally:
            host.terminate()


@on_none
async def test_without_a_tray_it_says_so_and_the_icon_comes_with_each_host(a_tray: Tray, qwait: QWait) -> None:
    changes = heard(a_tray.available_changed)
    a_tray.set_snapshots([snapshot("files")])
    a_tray.start()
    assert not a_tray.available
    assert a_tray.findChild(QSystemTrayIcon) is None
    for _ in range(2):
        with host_process(sys.executable, str(DESK / "status_notifier.py"), "watch"):
            await qwait.until(lambda: a_tray.available)
            icon = await until_seen(our_icon)
            assert icon["ToolTip"][2] == "1 server, ready"
            assert "files  –  ready" in await by_hand(our_menu)
        await qwait.until(lambda: not a_tray.available)
    assert changes == [True, False, True, False]


@on_none
async def test_an_xembed_host_that_comes_late_gets_the_icon(a_tray: Tray, qwait: QWait) -> None:
    a_tray.set_snapshots([snapshot("files")])
    a_tray.start()
    for _ in range(2):
        with host_process("trayer", "--edge", "top", "--heighttype", "pixel", "--height", "28"):
            await qwait.until(lambda: placed(a_tray))
        await qwait.until(lambda: not a_tray.available)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="an X session is for Linux")
@pytest.mark.parametrize("host", ["sni", "xembed", "none"])
def test_it_works_on_each_kind_of_host(host: str) -> None:
    if host == HOST:
        pytest.skip("the tests above ran on it")
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "not each_kind_of_host"]
    command, environment = session_command(*tests, tray=host, notify="log", keyring="off")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
