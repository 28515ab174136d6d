"""Where Patchbay keeps its files, on every system."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from collections.abc import Mapping

APP_NAME = "patchbay"
HOME_VARIABLE = "MCP_PATCHBAY_HOME"
"""Names one folder for everything, such as on a USB stick or in tests."""
CONFIG_VARIABLE = "MCP_PATCHBAY_CONFIG"
"""Names the servers.json to use."""


class Paths:
    """The app's folders and files. Making the object touches nothing; `create` makes the folders.

    Args:
        config_file: the servers.json to use, as given by `--config`; it goes before the environment.
        environ: where `MCP_PATCHBAY_HOME` and `MCP_PATCHBAY_CONFIG` are looked up.
    """

    def __init__(self, config_file: Path | None = None, environ: Mapping[str, str] = os.environ) -> None:
        home = environ.get(HOME_VARIABLE)
        if home:
            base = Path(home).expanduser().absolute()
            self.config, self.data, self.state = base / "config", base / "data", base / "state"
            self.cache, self.logs = base / "cache", base / "log"
        else:
            folders = platformdirs.PlatformDirs(APP_NAME, appauthor=False)
            self.config, self.data = folders.user_config_path, folders.user_data_path
            self.state, self.cache, self.logs = folders.user_state_path, folders.user_cache_path, folders.user_log_path
        named = config_file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
        self.servers_file = named.expanduser().absolute() if named else self.config / "servers.json"

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.json"

    @property
    def state_file(self) -> Path:
        return self.state / "state.json"

    @property
    def sample_folder(self) -> Path:
        """What the built-in filesystem server shows at the first start."""
        return self.data / "sample"

    def create(self) -> None:
        """Make the folders, for the user alone.

        Raises:
            OSError: a folder cannot be made.
        """
        for folder in (self.config, self.data, self.state, self.cache, self.logs):
            make_private_folder(folder)


def make_private_folder(folder: Path) -> Path:
    """Make a folder, and those above it, with mode 0700; one that is there stays as it is."""
    if not folder.is_dir():
        if folder.parent != folder:
            make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def resource_root() -> Path:
    """The folder of icons and samples: in a wheel, in a source tree, and in a frozen app.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    package = Path(__file__).resolve().parent.parent
    places = [package / "resources"]
    if frozen := getattr(sys, "_MEIPASS", None):
        places.append(Path(frozen) / "resources")
    else:
        places.append(package.parent.parent / "resources")
    for place in places:
        if (place / "icons").is_dir():
            return place
    raise FileNotFoundError(f"no resources in {' or '.join(map(str, places))}")
