"""Errors that a person may see. Each says what happened and what to do; none ever holds a secret."""

from __future__ import annotations

from mcp_patchbay.domain.messages import Message, message


class PatchbayError(Exception):
    """Base of all our errors.

    `title` names the kind of trouble, `message` says what happened, `hint` what would help.
    """

    def __init__(self, title: Message, text: Message, hint: Message | None = None) -> None:
        super().__init__(title, text, hint)
        self.title = title
        self.message = text
        self.hint = hint

    def __str__(self) -> str:
        return str(self.message)


class ConfigError(PatchbayError):
    """A setting that cannot be used. `field` names it as the config file does; empty is the whole entry."""

    def __init__(self, title: Message, text: Message, hint: Message | None = None, field: str = "") -> None:
        super().__init__(title, text, hint)
        self.field = field


class ConfigFileError(PatchbayError):
    """A settings file, named by `path`, that cannot be read or written. `line`, `column` count from 1 (0: unknown)."""

    def __init__(
        self,
        title: Message,
        text: Message,
        hint: Message | None = None,
        path: str = "",
        line: int = 0,
        column: int = 0,
    ) -> None:
        super().__init__(title, text, hint)
        self.path = path
        self.line = line
        self.column = column


class NotFoundError(PatchbayError):
    """A server, tool, prompt or resource that does not exist."""


class BlockedError(PatchbayError):
    """A tool or prompt that the server's filters hold back."""


class NotConnectedError(PatchbayError):
    """The server is known, but there is no connection to it now."""


class TimedOutError(PatchbayError):
    """The server did not answer within the limit that the message names."""


class ProtocolError(PatchbayError):
    """The server answered with a JSON-RPC error. `code` is its number, `data` what it attached."""

    def __init__(
        self, title: Message, text: Message, hint: Message | None = None, code: int = 0, data: object = None
    ) -> None:
        super().__init__(title, text, hint)
        self.code = code
        self.data = data


class LaunchError(PatchbayError):
    """A command that could not be found or started."""


class NetworkError(PatchbayError):
    """A URL that could not be reached, or that answered with an HTTP error; `status` then is the HTTP status."""

    def __init__(self, title: Message, text: Message, hint: Message | None = None, status: int | None = None) -> None:
        super().__init__(title, text, hint)
        self.status = status


class AuthError(NetworkError):
    """The server wants a sign-in or refused the one it got (HTTP 401 or 403)."""


class SecretError(PatchbayError):
    """A secret that could not be read or written."""


class ConnectionLostError(PatchbayError):
    """The connection ended: the process exited or the peer closed it."""


def field_error(field: str, reason: str) -> ConfigError:
    """A `ConfigError` about one field of a server's settings."""
    return ConfigError(
        message("error.field.title"),
        message("error.field", field=field, reason=reason),
        message("error.field.hint"),
        field=field,
    )
