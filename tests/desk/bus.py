"""The session's D-Bus by jeepney, blocking: calling, owning a name, answering. Runs as a script's sibling too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, new_error, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection

PROPERTIES = "org.freedesktop.DBus.Properties"

Answer = tuple[str | None, tuple[Any, ...], Callable[[], None] | None]
"""Signature and body of a reply, and what to do after it was sent."""
Handlers = dict[tuple[str, str], Callable[[Message], Answer]]
"""(interface, member) to what answers it."""


def call(
    bus: DBusConnection,
    owner: str,
    path: str,
    interface: str,
    member: str,
    signature: str | None = None,
    body: tuple[Any, ...] = (),
    timeout: float = 5.0,
) -> tuple[Any, ...]:
    """The reply to a method call, within `timeout` seconds.

    Raises:
        RuntimeError: the other side answered with an error.
    """
    message = new_method_call(DBusAddress(path, owner, interface), member, signature, body)
    reply = bus.send_and_get_reply(message, timeout=timeout)
    if reply.header.message_type == MessageType.error:
        raise RuntimeError(f"{reply.header.fields.get(HeaderFields.error_name)}: {reply.body}")
    return tuple(reply.body)


def own(bus: DBusConnection, name: str) -> None:
    """Take a name on the bus; exits when another has it."""
    if bus.send_and_get_reply(message_bus.RequestName(name, 4)).body[0] not in (1, 4):
        sys.exit(f"{name} is owned by another")


def serve(bus: DBusConnection, handlers: Handlers, on_signal: Callable[[Message], None] | None = None) -> None:
    """Answer calls until the bus or the process ends."""
    while True:
        message = bus.receive()
        fields = message.header.fields
        if message.header.message_type == MessageType.signal and on_signal:
            on_signal(message)
        if message.header.message_type != MessageType.method_call:
            continue
        key = (fields.get(HeaderFields.interface), fields.get(HeaderFields.member))
        handler = handlers.get(key)
        if handler is None:
            bus.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "s", (str(key),)))
            continue
        signature, body, after = handler(message)
        bus.send(new_method_return(message, signature, body))
        if after:
            after()
