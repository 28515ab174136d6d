"""Every text for people that is made outside `ui`, in English, by key.

The CLI formats a `Message` with `str()`; the UI translates its template by key and formats that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TEMPLATES: dict[str, str] = {
    "plain": "{text}",
    # --- one-line summaries of a server's health
    "health.ready": "Ready",
    "health.disabled": "Switched off",
    "health.stopped": "Stopped",
    "health.unconfirmed": "Waits for your first Start",
    "health.connecting": "Connecting",
    "health.connecting_output": "Starting: {line}",
    "health.retrying": "{reason} · try {attempt} of {attempts}",
    "health.needs_auth": "Sign-in needed to see its tools",
    "health.stopping": "Stopping",
    "health.failed": "{reason}",
    # --- the steps of one connection
    "step.settings": "Settings and secrets read",
    "step.command": "Found the command",
    "step.process": "Started the process",
    "step.reach": "Reached the server",
    "step.handshake": "Handshake",
    "step.lists": "Listed what it offers",
    "step.not_reached": "not reached",
    # --- errors: title, what happened, what to do
    "error.no_target.title": "Nothing to connect to",
    "error.no_target": "No command or url provided for server",
    "error.no_target.hint": "Give the server a command, a URL or a built-in name.",
    "error.type.title": "Invalid server type",
    "error.type": "Invalid server type: {type}",
    "error.type.hint": "Use stdio, sse, streamable-http or builtin.",
    "error.field.title": "A setting is not valid",
    "error.field": "{field}: {reason}",
    "error.field.hint": "Correct it in the server's settings.",
    "error.exists.title": "The name is taken",
    "error.exists": "Server with name {name} already exists",
    "error.exists.hint": "Choose another name.",
    "error.unknown_server.title": "No such server",
    "error.unknown_server": "MCP Client {name} not found",
    "error.unknown_server.hint": "Check the name; the list shows all servers.",
    "error.not_connected.title": "Not connected",
    "error.not_connected": "{name} is not connected ({state})",
    "error.not_connected.hint": "Start the server, or look at its log to see why it is down.",
    "error.unknown_tool.title": "No such tool",
    "error.unknown_tool": "{server} has no tool named {tool}",
    "error.unknown_prompt.title": "No such prompt",
    "error.unknown_prompt": "{server} has no prompt named {prompt}",
    "error.unknown.hint": "List what the server offers, and check the spelling.",
    "error.blocked.title": "Blocked by a filter",
    "error.blocked": "{name} is held back by the filter {rule} of {server}",
    "error.blocked.hint": "Change the server's filters to allow it.",
    "error.timeout.title": "Timed out",
    "error.timeout": "{what} timed out after {seconds:g} s",
    "error.timeout.hint": "Raise the server's time limit if it is just slow.",
    "error.protocol.title": "The server answered with an error",
    "error.protocol": "{message} (code {code})",
    "error.protocol.hint": "The server's log may say more.",
    "error.closed.title": "The connection was lost",
    "error.closed": "The server closed the connection",
    "error.closed.hint": "Its log shows its last words.",
    "error.exited.title": "The server stopped",
    "error.exited": "The process ended with exit code {code}",
    "error.exited_said": "The process ended with exit code {code}: {line}",
    "error.exited.hint": "Its log shows its last words.",
    "error.command.title": "Command not found",
    "error.command": "{command} was not found. Searched for {names} in: {folders}",
    "error.command.hint": "Install it, or give the full path of the command.",
    "error.spawn.title": "The command could not be started",
    "error.spawn": "{command}: {reason}",
    "error.spawn.hint": "Check the command, its folder and its permissions.",
    "error.not_mcp.title": "This does not speak MCP",
    "error.not_mcp": "No MCP answer within {seconds:g} s; the first output was: {line}",
    "error.not_mcp.hint": "Check the command and its arguments; some servers need a flag such as --stdio.",
    "error.silent": "No answer within {seconds:g} s",
    "error.silent.hint": "Raise the connect limit if the server is just slow, or look at its log.",
    "error.secret.title": "A secret is missing",
    "error.secret": "{field} needs a secret that is not in the keyring",
    "error.secret.hint": "Edit the server and enter the value again.",
    "error.placeholder.title": "A variable is not set",
    "error.placeholder": "{field} uses {name}, which is not set",
    "error.placeholder.hint": "Set the variable, or write the value in the server's settings.",
    "error.builtin.title": "No such built-in server",
    "error.builtin": "There is no built-in server named {builtin}",
    "error.builtin.hint": "Built-in servers: {known}.",
    "error.crash.title": "Something went wrong in Patchbay",
    "error.crash": "{reason}",
    "error.crash.hint": "The app log has the details.",
}


@dataclass(frozen=True, slots=True)
class Message:
    """A text for people: the key of a template in `TEMPLATES` and what goes into it."""

    key: str
    args: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return TEMPLATES[self.key].format(**self.args)


def message(key: str, **args: Any) -> Message:
    """`Message(key, args)`, with the arguments as keywords."""
    return Message(key, args)


def plain(text: str) -> Message:
    """A text that is not ours to translate, such as a server's own words."""
    return Message("plain", {"text": text})
