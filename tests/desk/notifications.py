#!/usr/bin/env python3
"""A notification daemon that shows nothing and records all: `notifications.py LOG.jsonl`, one JSON object a line."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from jeepney import Message
from jeepney.io.blocking import open_dbus_connection

if __package__:
    from desk.bus import Answer, own, serve
else:
    from bus import Answer, own, serve  # type: ignore[import-not-found, no-redef]

NAME = "org.freedesktop.Notifications"


def record(log: Path) -> None:
    """Be the daemon."""
    bus = open_dbus_connection("SESSION")
    last = 0

    def write(entry: dict[str, Any]) -> None:
        with log.open("a") as file:
            file.write(json.dumps(entry | {"time": time.time()}, default=repr) + "\n")

    def notify(message: Message) -> Answer:
        nonlocal last
        app, replaces, icon, summary, body, actions, hints, timeout = message.body
        last = replaces or last + 1
        shown = {key: value[1] for key, value in hints.items() if key != "image-data"}
        write(
            {"id": last, "app": app, "icon": icon, "summary": summary, "body": body, "actions": actions}
            | {"hints": shown, "image": "image-data" in hints, "timeout": timeout}
        )
        return "u", (last,), None

    def close(message: Message) -> Answer:
        write({"closed": message.body[0]})
        return None, (), None

    own(bus, NAME)
    handlers = {
        (NAME, "Notify"): notify,
        (NAME, "CloseNotification"): close,
        (NAME, "GetCapabilities"): lambda _: ("as", (["body", "actions", "persistence"],), None),
        (NAME, "GetServerInformation"): lambda _: ("ssss", ("recorder", "desk", "1", "1.2"), None),
    }
    serve(bus, handlers)


def recorded(log: str | None = None) -> list[dict[str, Any]]:
    """The notifications so far, of this session or of the one with that log."""
    path = Path(log or os.environ["DESK_NOTIFY_LOG"])
    lines = path.read_text().splitlines() if path.exists() else []
    return [entry for entry in map(json.loads, lines) if "summary" in entry]


if __name__ == "__main__":
    record(Path(sys.argv[1]))
