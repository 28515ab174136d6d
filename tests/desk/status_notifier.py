#!/usr/bin/env python3
"""Tray icons over D-Bus (StatusNotifierItem): a host without a window, and a hand that clicks.

As a script: `watch` (be the host), `items`, `menu`, `click LABEL`, `activate`.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jeepney import DBusAddress, HeaderFields, MatchRule, Message, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

if __package__:
    from desk.bus import PROPERTIES, Answer, call, own, serve
else:
    from bus import PROPERTIES, Answer, call, own, serve  # type: ignore[import-not-found, no-redef]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jeepney.io.blocking import DBusConnection

WATCHER = "org.kde.StatusNotifierWatcher"
WATCHER_PATH = "/StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"

Item = tuple[str, str]
"""Bus name and object path of one tray icon."""


def watch() -> None:
    """Be the tray host: keep the list of icons, and tell when one comes or goes."""
    bus = open_dbus_connection("SESSION")
    items: list[str] = []

    def properties() -> dict[str, tuple[str, Any]]:
        return {
            "RegisteredStatusNotifierItems": ("as", list(items)),
            "IsStatusNotifierHostRegistered": ("b", True),
            "ProtocolVersion": ("i", 0),
        }

    def tell(signal: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> None:
        bus.send(new_signal(DBusAddress(WATCHER_PATH, None, WATCHER), signal, signature, body))

    def register_item(message: Message) -> Answer:
        name, sender = message.body[0], message.header.fields[HeaderFields.sender]
        item = sender + name if name.startswith("/") else name + "/StatusNotifierItem"
        if item not in items:
            items.append(item)
        return None, (), lambda: tell("StatusNotifierItemRegistered", "s", (item,))

    def on_signal(message: Message) -> None:
        if message.header.fields.get(HeaderFields.member) != "NameOwnerChanged" or message.body[2]:
            return
        for item in [item for item in items if item.split("/")[0] == message.body[0]]:
            items.remove(item)
            tell("StatusNotifierItemUnregistered", "s", (item,))

    rule = MatchRule(type="signal", interface="org.freedesktop.DBus", member="NameOwnerChanged")
    bus.send_and_get_reply(message_bus.AddMatch(rule))
    own(bus, WATCHER)
    handlers = {
        (WATCHER, "RegisterStatusNotifierItem"): register_item,
        (WATCHER, "RegisterStatusNotifierHost"): lambda _: (None, (), lambda: tell("StatusNotifierHostRegistered")),
        (PROPERTIES, "Get"): lambda message: ("v", (properties()[message.body[1]],), None),
        (PROPERTIES, "GetAll"): lambda _: ("a{sv}", (properties(),), None),
    }
    serve(bus, handlers, on_signal)


class TrayHand:
    """Sees the tray's icons and their menus, and clicks on them."""

    def __init__(self, bus: DBusConnection) -> None:
        self._bus = bus

    def items(self) -> list[Item]:
        """The icons that are in the tray."""
        name = (WATCHER, "RegisteredStatusNotifierItems")
        value = call(self._bus, WATCHER, WATCHER_PATH, PROPERTIES, "Get", "ss", name)[0][1]
        return [(owner, "/" + path) for owner, _, path in (item.partition("/") for item in value)]

    def pid(self, item: Item) -> int:
        """The process whose icon it is."""
        bus = "org.freedesktop.DBus"
        said = call(self._bus, bus, "/org/freedesktop/DBus", bus, "GetConnectionUnixProcessID", "s", (item[0],))
        return int(said[0])

    def properties(self, item: Item) -> dict[str, Any]:
        """What an icon says of itself; of pictures only (width, height, bytes)."""
        said = call(self._bus, *item, PROPERTIES, "GetAll", "s", (ITEM,))[0]
        found = {key: value[1] for key, value in said.items()}
        for key in [key for key in found if "Pixmap" in key]:
            found[key] = [(width, height, len(data)) for width, height, data in found[key]]
        return found

    def activate(self, item: Item) -> None:
        """A left click."""
        call(self._bus, *item, ITEM, "Activate", "ii", (0, 0))

    def menu(self, item: Item) -> list[dict[str, Any]]:
        """The menu's entries, top to bottom, each with `id`, `depth` and what is said of it, such as `label`."""
        entries: list[dict[str, Any]] = []

        def walk(entry: Any, depth: int) -> None:
            number, said, children = entry
            if number:
                shown = {key: value[1] for key, value in said.items() if key != "icon-data"}
                entries.append({"id": number, "depth": depth, **shown})
            for child in children:
                walk(child[1], depth + 1)

        path = self.properties(item)["Menu"]
        call(self._bus, item[0], path, MENU, "AboutToShow", "i", (0,))
        walk(call(self._bus, item[0], path, MENU, "GetLayout", "iias", (0, -1, []))[1], 0)
        return entries

    def click(self, item: Item, *labels: str) -> None:
        """Click on a menu entry, by its label or by the labels on the way to it: `click(item, "files", "Stop")`."""
        entries, depth = self.menu(item), 0
        for label in labels:
            place = next(
                index
                for index, entry in enumerate(entries)
                if str(entry.get("label", "")).replace("_", "") == label and (not depth or entry["depth"] == depth)
            )
            found = entries[place]
            depth = found["depth"] + 1
            entries = entries[place + 1 :]
        event = (found["id"], "clicked", ("s", ""), int(time.time()) & 0xFFFFFFFF)
        call(self._bus, item[0], self.properties(item)["Menu"], MENU, "Event", "isvu", event)


@contextmanager
def tray_hand(bus_address: str = "SESSION") -> Iterator[TrayHand]:
    """A hand on the tray of this session, or of the one with that bus address."""
    with open_dbus_connection(bus_address) as bus:
        yield TrayHand(bus)


def main(command: str, *arguments: str) -> None:
    if command == "watch":
        return watch()
    with tray_hand() as hand:
        items = hand.items()
        if command == "items":
            print(json.dumps([{"item": item, **hand.properties(item)} for item in items], default=repr, indent=1))
        elif command == "menu":
            print(json.dumps(hand.menu(items[0]), default=repr, indent=1))
        elif command == "click":
            hand.click(items[0], *arguments)
        elif command == "activate":
            hand.activate(items[0])
        else:
            sys.exit(__doc__)
    return None


if __name__ == "__main__":
    main(*sys.argv[1:] or ["help"])
