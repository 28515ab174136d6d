"""The user's choices about the app itself: `settings.json` in the config folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from mcp_patchbay.domain.servers import DEFAULT_TIMEOUT
from mcp_patchbay.stores.json_file import WRITE_DELAY, JsonFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Theme = Literal["system", "light", "dark"]
THEMES: tuple[Theme, ...] = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set.

    Attributes:
        close_to_tray: closing the window keeps the app in the tray.
        start_hidden: the app starts in the tray, without its window.
        theme: "system" follows the desktop.
        default_timeout: seconds for one tool call of a server that has no limit of its own.
        notifications: say it when a server's health changes.
        first_close_hint_shown: the hint that the app stays in the tray was given.
        first_start_dismissed: the page of the first start was put away.
    """

    close_to_tray: bool = True
    start_hidden: bool = False
    theme: Theme = "system"
    default_timeout: float = DEFAULT_TIMEOUT
    notifications: bool = True
    first_close_hint_shown: bool = False
    first_start_dismissed: bool = False


class SettingsFile:
    """The settings on disk. Values that make no sense fall back to their defaults; unknown keys are kept."""

    def __init__(self, path: Path, delay: float = WRITE_DELAY) -> None:
        self._file = JsonFile(path, delay)
        self._listeners: list[Callable[[Settings], None]] = []
        self._settings: Settings | None = None

    @property
    def current(self) -> Settings:
        """The settings as they are now."""
        if self._settings is None:
            values = {field.name: self._file.get(field.name) for field in fields(Settings)}
            self._settings = replace(Settings(), **{k: v for k, v in values.items() if _is_valid(k, v)})
        return self._settings

    def change(self, **values: Any) -> Settings:
        """Change some settings by name; heard by the listeners at once and written soon.

        Raises:
            ValueError: an unknown name or a value that makes no sense.
        """
        for name, value in values.items():
            if not _is_valid(name, value):
                raise ValueError(f"{name} cannot be {value!r}")
        before = self.current
        self._settings = replace(before, **values)
        for name, value in values.items():
            if asdict(before)[name] != value:
                self._file.put(name, value=value)
        if self._settings != before:
            for listener in tuple(self._listeners):
                listener(self._settings)
        return self._settings

    def subscribe(self, listener: Callable[[Settings], None]) -> Callable[[], None]:
        """Hear of changes. Returns the way out."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    async def close(self) -> None:
        """Write what is not yet written."""
        await self._file.close()


def _is_valid(name: str, value: Any) -> bool:
    if name == "theme":
        return value in THEMES
    if name == "default_timeout":
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e7
    return isinstance(value, bool) and any(field.name == name for field in fields(Settings))
